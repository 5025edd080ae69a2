import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import { hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { needs } from "./fit/testing.ts";
import { Ledger } from "./ledger.ts";
import { Queues } from "./queues.ts";

const EAST = parseClusterName("east");
const uid = (text: string) => hubUid.parse(text);

function queuesWith(spec: JobQueue["spec"] | undefined, labels: Record<string, string> = {}) {
  const ledger = new Ledger(new Clusters(new VirtualClock(), "key"));
  const queueNamed = (name: string): JobQueue | undefined =>
    name === "night" && spec !== undefined ? { metadata: { name }, spec } : undefined;
  return { queues: new Queues({ queueNamed, labelsOfNamespace: () => labels, ledger }), ledger };
}

describe("Queues", () => {
  it("default exists also when nobody wrote it down, others do not", () => {
    const { queues } = queuesWith(undefined);
    expect(queues.view("default")).toMatchObject({ paused: false, placement: "Spread", running: 0 });
    expect(queues.view("night")).toBeUndefined();
    expect(queues.onClusterLost("night")).toBe("Redispatch");
  });

  it("shows what the object says", () => {
    const view = queuesWith({ paused: true, placement: "Pack", quota: { jobs: 3 }, onClusterLost: "Wait" }).queues.view(
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
    const { queues } = queuesWith(namespaceSelector === undefined ? {} : { namespaceSelector }, labels);
    expect(queues.view("night")?.acceptsNamespace("team")).toBe(accepted);
  });

  it("counts each booked Job once", () => {
    const { queues, ledger } = queuesWith({});
    const booking = { cluster: EAST, queue: "night", needs: needs({ asks: { cpu: 500 }, pods: 2 }) };
    for (const name of ["u1", "u1", "u2"]) ledger.book(uid(name), booking);
    expect(queues.view("night")).toMatchObject({
      running: 2,
      used: new Map([
        ["pods", 4],
        ["cpu", 2000],
      ]),
    });
    for (let i = 0; i < 2; i++) ledger.release(uid("u1"));
    expect(queues.view("night")).toMatchObject({
      running: 1,
      used: new Map([
        ["pods", 2],
        ["cpu", 1000],
      ]),
    });
  });

  it("shares by weight", () => {
    const { queues, ledger } = queuesWith({ weight: 4 });
    const book = (name: string, queue: string) => ledger.book(uid(name), { cluster: EAST, queue, needs: needs() });
    for (const name of ["u1", "u2"]) book(name, "night");
    book("u3", "default");
    expect([queues.share("night"), queues.share("default")]).toEqual([0.5, 1]);
  });

  it("reads quotas in the units of requests", () => {
    const view = queuesWith({ quota: { resources: { cpu: "1500m", memory: "1Gi", "nvidia.com/gpu": 2 } } }).queues.view(
      "night",
    );
    expect([...(view?.quota ?? [])]).toEqual([
      ["cpu", 1500],
      ["memory", 2 ** 30],
      ["nvidia.com/gpu", 2],
    ]);
  });
});
