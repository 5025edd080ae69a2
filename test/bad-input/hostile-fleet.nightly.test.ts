import { it } from "vitest";
import { hostileFleet } from "./hostile-fleet.ts";

it("honest Jobs do not notice two minutes of attacks", async () => {
  await hostileFleet({ alone: 100, beside: 200, everyMs: 600, pauseMs: 250 });
}, 1_200_000);
