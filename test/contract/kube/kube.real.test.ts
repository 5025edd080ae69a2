/** How shared/kube copes with a server that is cut off, slow, restarted or forgetful: the same for both kinds of server. */
import { afterAll, beforeAll, describe } from "vitest";
import { calling } from "./calling.ts";
import { leadingAndTelling } from "./leading-and-telling.ts";
import { reflecting } from "./reflecting.ts";
import { flakyClusters } from "./subject.ts";

describe.each(Object.entries(flakyClusters))("%s", (_, subject) => {
  beforeAll(() => subject.start());
  afterAll(() => subject.stop());

  calling(subject);
  reflecting(subject);
  leadingAndTelling(subject);
});
