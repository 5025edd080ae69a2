import { it } from "vitest";
import { hostileFleet } from "./hostile-fleet.ts";

it("a submitter, a worker's user, an agent and a reader of Redis run wild, and honest Jobs do not notice", async () => {
  await hostileFleet({ before: 20, beside: 40, everyMs: 400, pauseMs: 500 });
});
