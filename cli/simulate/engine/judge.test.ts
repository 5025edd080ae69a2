/** The judge of placements finds wrong ones: those that a wrong placement would make are made here. */

import { hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { aTraceJob, nodes } from "../testing/builders.ts";
import { EventClock } from "./event-clock.ts";
import { NodeScheduler } from "./node-scheduler.ts";
import { SimulatedWorker } from "./worker.ts";

const GPU = "nvidia.com/gpu";
const uid = hubUid.parse("00000000-0000-4000-8000-000000000001");
const aWorker = (kinds: ReturnType<typeof nodes>[]) =>
  new SimulatedWorker({
    name: parseClusterName("w"),
    kinds,
    scoring: "LeastAllocated",
    clock: new EventClock(),
    managerKey: "k",
    onPod() {},
    onFinished() {},
  });

it.each([
  ["no GPU", aTraceJob("j", { asks: { [GPU]: 1 } }), false],
  ["too large for a node", aTraceJob("j", { asks: { cpu: 5000 } }), false],
  ["another label", aTraceJob("j", { nodeLabels: [{ key: "zone", values: ["b"] }] }), false],
  ["no toleration", aTraceJob("j", { nodeLabels: [{ key: "zone", values: ["tainted"] }] }), false],
  ["room", aTraceJob("j"), true],
])("%s", (_, job, isBound) => {
  const worker = aWorker([
    nodes(1, { cpu: 4000 }, { labels: { zone: "a" } }),
    nodes(1, { cpu: 4000 }, { labels: { zone: "tainted" }, taints: [{ key: "t", effect: "NoExecute" }] }),
  ]);
  expect(worker.deliver(uid, job, 0).bound > 0).toBe(isBound);
  expect(worker.couldEver(job.shape)).toBe(isBound);
});

it("a node that is full binds nothing until a pod has left it", () => {
  const worker = aWorker([nodes(1, { cpu: 4000 })]);
  const first = worker.deliver(uid, aTraceJob("a", { asks: { cpu: 3000 } }), 0);
  const second = worker.deliver(uid, aTraceJob("b", { asks: { cpu: 2000 } }), 0);
  expect([first.bound, second.bound, worker.pendingPods]).toEqual([1, 0, 1]);
  worker.withdraw(first.mirror);
  expect([second.mirror.running.size, worker.pendingPods]).toEqual([1, 0]);
});

it("no node ever holds more than it has, whatever comes and goes", () => {
  const asks = fc.record({ cpu: fc.nat(3000), [GPU]: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(fc.tuple(asks, fc.boolean()), { maxLength: 40 }), (steps) => {
      const scheduler = new NodeScheduler(
        "w",
        [nodes(2, { cpu: 4000, [GPU]: 2 }), nodes(1, { cpu: 8000 })],
        "MostAllocated",
      );
      const bound: { node: ReturnType<NodeScheduler["bind"]>; shape: ReturnType<typeof aTraceJob>["shape"] }[] = [];
      for (const [wanted, ends] of steps) {
        const { shape } = aTraceJob("j", { asks: wanted });
        const node = scheduler.bind(shape);
        if (node !== undefined) bound.push({ node, shape });
        const gone = ends ? bound.shift() : undefined;
        if (gone?.node !== undefined) scheduler.release(gone.node, gone.shape);
        for (const each of scheduler.nodes)
          for (const [resource, whole] of each.kind.allocatable) {
            const taken = bound
              .filter((b) => b.node === each)
              .reduce((sum, b) => sum + (resource === "pods" ? 1 : (b.shape.perPod.get(resource) ?? 0)), 0);
            expect(each.free.get(resource)).toBe(whole - taken);
            expect(taken).toBeLessThanOrEqual(whole);
          }
      }
    }),
  );
});
