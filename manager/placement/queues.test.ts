import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { describe, expect, it } from "vitest";
import { Queues } from "./queues.ts";

const queuesWith = (spec: JobQueue["spec"] | undefined, labels: Record<string, string> = {}): Queues =>
  new Queues(
    (name) => (name === "night" && spec !== undefined ? { metadata: { name }, spec } : undefined),
    () => labels,
  );

describe("Queues", () => {
  it("default exists also when nobody wrote it down, others do not", () => {
    const queues = queuesWith(undefined);
    expect(queues.view("default")).toMatchObject({ paused: false, placement: "Spread", running: 0 });
    expect(queues.view("night")).toBeUndefined();
    expect(queues.onClusterLost("night")).toBe("Redispatch");
  });

  it("shows what the object says", () => {
    const view = queuesWith({ paused: true, placement: "Pack", quota: { jobs: 3 }, onClusterLost: "Wait" }).view(
      "night",
    );
    expect(view).toMatchObject({ paused: true, placement: "Pack", maxJobs: 3 });
  });

  it.each([
    ["no selector", undefined, {}, true],
    ["a match", { matchLabels: { team: "a" } }, { team: "a" }, true],
    ["another value", { matchLabels: { team: "a" } }, { team: "b" }, false],
    ["an empty selector", {}, {}, true],
  ])("accepts namespaces by %s", (_, namespaceSelector, labels, accepted) => {
    const queues = queuesWith(namespaceSelector === undefined ? {} : { namespaceSelector }, labels);
    expect(queues.view("night")?.acceptsNamespace("team")).toBe(accepted);
  });

  it("counts each assigned Job once", () => {
    const queues = queuesWith({});
    const needs = { perPod: new Map([["cpu", 500]]), pods: 2 };
    queues.holds("night", "u1", needs);
    queues.holds("night", "u1", needs);
    queues.holds("night", "u2", needs);
    expect(queues.running("night")).toBe(2);
    expect(queues.view("night")?.used.get("cpu")).toBe(2000);
    queues.letGo("u1");
    queues.letGo("u1");
    expect(queues.running("night")).toBe(1);
    expect(queues.view("night")?.used.get("cpu")).toBe(1000);
  });

  it("shares by weight", () => {
    const queues = queuesWith({ weight: 4 });
    const needs = { perPod: new Map(), pods: 1 };
    for (const uid of ["u1", "u2"]) queues.holds("night", uid, needs);
    queues.holds("default", "u3", needs);
    expect([queues.share("night"), queues.share("default")]).toEqual([0.5, 1]);
  });

  it("reads quotas in the units of requests", () => {
    const view = queuesWith({ quota: { resources: { cpu: "1500m", memory: "1Gi", "nvidia.com/gpu": 2 } } }).view(
      "night",
    );
    expect([...(view?.quota ?? [])]).toEqual([
      ["cpu", 1500],
      ["memory", 2 ** 30],
      ["nvidia.com/gpu", 2],
    ]);
  });
});
