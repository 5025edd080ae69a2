import { afterAll, beforeAll, describe } from "vitest";
import { calling } from "./calling.ts";
import { leadingAndTelling } from "./leading-and-telling.ts";
import { reflecting } from "./reflecting.ts";
import type { FlakyCluster } from "./subject.ts";

/** The same for both kinds of server; in files of their own, so that they run side by side. */
export function troubles(name: string, subject: FlakyCluster): void {
  describe(name, () => {
    beforeAll(() => subject.start());
    afterAll(() => subject.stop());

    calling(subject);
    reflecting(subject);
    leadingAndTelling(subject);
  });
}
