import { expect, it } from "vitest";
import { capacityOf } from "../fleet/fleet.ts";
import { parseFleet } from "../fleet/read-fleet.ts";
import { fleetText } from "../fleet/write-fleet.ts";
import { generateFleet } from "./fleet.ts";

it("reads what the generator writes: 1,523 nodes with 6,212 GPUs, in one cluster or in twelve", () => {
  for (const [what, clusters] of [
    ["one", 1],
    ["twelve", 12],
  ] as const) {
    const generated = generateFleet(what);
    const fleet = parseFleet("f.yaml", fleetText(generated));
    expect(fleet.clusters).toHaveLength(clusters);
    expect(fleet.clusters.flatMap(({ nodes }) => nodes).reduce((sum, { count }) => sum + count, 0)).toBe(1523);
    expect(capacityOf(fleet).get("nvidia.com/gpu")).toBe(6212);
    expect(capacityOf(fleet)).toEqual(capacityOf(generated));
  }
});
