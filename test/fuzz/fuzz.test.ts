/** What outsiders write crashes nobody, keeps nobody busy and fills no memory. `fuzz.nightly.test.ts` looks further. */
import { it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { TARGETS } from "./targets.ts";

it.each(Object.entries(TARGETS))("%s", (_, target) => {
  fuzz(target, { numRuns: 60 });
});
