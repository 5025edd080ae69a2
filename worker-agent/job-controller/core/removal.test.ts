import { describe, expect, it } from "vitest";
import { aJob, aPod, at } from "../testing/builders.ts";
import { compareForRemoval, podsToRemove } from "./removal.ts";
import type { PodFacts } from "./types.ts";

const job = aJob().build();
const names = (pods: readonly PodFacts[]) => pods.map(({ pod }) => pod.metadata.name).toSorted();
const pod = () => aPod(job).node("n").ready(-10);

describe("RM-3: the first is removed before the second", () => {
  it.each([
    ["1 unassigned before assigned", aPod(job).phase("Running"), aPod(job).node("n").phase("Pending")],
    ["2 Pending before Unknown", aPod(job).node("n").phase("Pending"), aPod(job).node("n").phase("Unknown")],
    ["2 Unknown before Running", aPod(job).node("n").phase("Unknown"), aPod(job).node("n").phase("Running")],
    ["3 not ready before ready", aPod(job).node("n").phase("Running"), pod()],
    ["4 more recently ready first", pod().ready(-5), pod().ready(-50)],
    ["5 more restarts first", pod().restarts(3), pod().restarts(1)],
    ["6 newer first", pod().metadata({ creationTimestamp: at(-5) }), pod().metadata({ creationTimestamp: at(-50) })],
  ])("%s", (_, first, second) => {
    expect(compareForRemoval(first.facts(), second.facts())).toBeLessThan(0);
    expect(compareForRemoval(second.facts(), first.facts())).toBeGreaterThan(0);
  });

  it("5 sidecars break the tie of app containers", () => {
    const sidecar = (restartCount: number) => {
      const built = pod()
        .restarts(1)
        .status({ initContainerStatuses: [{ name: "side", restartCount }] })
        .facts();
      const spec = { ...built.pod.spec, initContainers: [{ name: "side", restartPolicy: "Always" }] };
      return { ...built, pod: { ...built.pod, spec } };
    };
    expect(compareForRemoval(sidecar(4), sidecar(2))).toBeLessThan(0);
  });
});

describe("podsToRemove", () => {
  it("removes nothing when nothing must go", () =>
    expect(podsToRemove(job, [aPod(job).facts(), aPod(job).facts()], -1)).toEqual([]));

  it("takes the lowest ranked", () => {
    const pods = [
      aPod(job, "ready").node("n").ready().facts(),
      aPod(job, "pending").facts(),
      aPod(job, "running").node("n").phase("Running").facts(),
    ];
    expect(names(podsToRemove(job, pods, 2))).toEqual(["pending", "running"]);
  });

  const indexed = aJob().indexed(3).build();
  const at0 = (name: string, index: number | string) => aPod(indexed, name).index(index);

  it("RM-4 removes unknown, out-of-range and repeated indexes even when none must go", () => {
    const pods = [
      at0("unknown", "x").facts(),
      at0("beyond", 3).facts(),
      at0("best", 0).node("n").ready().facts(),
      at0("pending", 0).facts(),
      at0("running", 0).node("n").phase("Running").facts(),
      at0("alone", 1).facts(),
    ];
    expect(names(podsToRemove(indexed, pods, 0))).toEqual(["beyond", "pending", "running", "unknown"]);
  });

  it("RM-5 removes the least progressed, not the highest indexes", () => {
    const pods = [at0("low", 0).facts(), at0("high", 2).node("n").ready().facts()];
    expect(names(podsToRemove(indexed, pods, 1))).toEqual(["low"]);
  });
});
