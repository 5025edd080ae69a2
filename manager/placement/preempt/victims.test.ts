import { hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { needs } from "../fit/testing.ts";
import type { QueueQuota } from "../order/quota.ts";
import { RoomAfter } from "./room-after.ts";
import { type Displacement, type Holder, isCheaper, type Place, type Preemptor, victimsOn } from "./victims.ts";

const units = (amounts: Record<string, number>) => new Map(Object.entries(amounts));
/** `free`: of each node, in CPUs; all have 8. */
const aReport = (...free: number[]): NodesReport => ({
  shapes: [
    {
      nodes: free.length,
      labels: {},
      taints: [],
      resources: ["cpu", "pods"],
      allocatable: [8, 10],
      free: free.map((cpu) => ({ nodes: 1, room: [cpu, 5] })),
    },
  ],
  hiddenLabels: [],
  leftOut: 0,
});
const asks = (cpu: number, pods = 1, gang = false) => needs({ asks: { cpu, pods: 1 }, pods, gang });
const aHolder = (name: string, { needs: own = asks(4), ...over }: Partial<Omit<Holder, "uid">> = {}): Holder => ({
  uid: hubUid.parse(name),
  queue: "others",
  priority: 0,
  needs: own,
  running: own.pods,
  loss: 100,
  leaving: false,
  spared: false,
  ...over,
});
const aPlace = (cluster: string, holders: Holder[], ...free: number[]): Place => ({
  cluster: parseClusterName(cluster),
  nodes: aReport(...free),
  holders,
});
const aPreemptor = (over: Partial<Preemptor> = {}): Preemptor => ({
  queue: "mine",
  priority: 5,
  needs: asks(4),
  asked: units({ jobs: 1, cpu: 4, pods: 1 }),
  rules: { reclaim: "Any", withinQueue: "Never" },
  ...over,
});
const quota = (name: string, own: Record<string, number>, used: Record<string, number>): QueueQuota => ({
  name,
  quota: units(own),
  borrowLimit: new Map(),
  used: units(used),
  cohort: undefined,
});
const BOOKS: Record<string, QueueQuota> = {
  mine: quota("mine", { cpu: 8 }, { cpu: 0 }),
  others: quota("others", {}, { cpu: 16 }),
  theirs: quota("theirs", { cpu: 8 }, { cpu: 8 }),
};
const books =
  (over: Record<string, QueueQuota> = {}) =>
  (name: string): QueueQuota =>
    ({ ...BOOKS, ...over })[name] ?? quota(name, {}, {});
/** Of the cluster where it costs the least. */
const chooseVictims = (preemptor: Preemptor, places: readonly Place[], quotaOf: (queue: string) => QueueQuota) =>
  places
    .flatMap((place) => victimsOn(place, preemptor, quotaOf) ?? [])
    .reduce<Displacement | undefined>((best, found) => (best && isCheaper(best, found) ? best : found), undefined);
const named = (found: ReturnType<typeof chooseVictims>) =>
  found && [found.cluster, ...found.victims.map(({ uid }) => uid as string)];

describe("the Jobs that would have to leave", () => {
  it.each<[string, Partial<Preemptor>, Place[], Record<string, QueueQuota>, string[] | undefined]>([
    ["one that is large enough", {}, [aPlace("east", [aHolder("a")], 0, 0)], {}, ["east", "a"]],
    ["none whose pods have no node", {}, [aPlace("east", [aHolder("a", { running: 0 })], 0, 0)], {}, undefined],
    ["none where there is room", {}, [aPlace("east", [aHolder("a")], 4, 0)], {}, ["east"]],
    [
      "none that may make no room: who knows on which node they are",
      {},
      [aPlace("east", [aHolder("a", { needs: asks(2) }), aHolder("b", { needs: asks(2) })], 0, 0)],
      {},
      undefined,
    ],
    [
      "both where there is but one node",
      {},
      [aPlace("east", [aHolder("a", { needs: asks(2) }), aHolder("b", { needs: asks(2) })], 0)],
      {},
      ["east", "a", "b"],
    ],
    [
      "a smaller one where each node has the rest",
      {},
      [aPlace("east", [aHolder("a", { needs: asks(2) })], 2, 3)],
      {},
      ["east", "a"],
    ],
    [
      "the fewest, wherever they are",
      { needs: asks(4, 2, true), asked: units({ jobs: 1, cpu: 8 }) },
      [
        aPlace("east", [aHolder("a", { loss: 0 }), aHolder("b", { loss: 0 })], 0, 0),
        aPlace("west", [aHolder("c", { needs: asks(4, 2) })], 0, 0),
      ],
      {},
      ["west", "c"],
    ],
    [
      "the less important",
      {},
      [aPlace("east", [aHolder("a", { priority: 3 }), aHolder("b", { priority: 1, loss: 999 })], 0, 0)],
      {},
      ["east", "b"],
    ],
    [
      "of equals the one that loses least",
      {},
      [aPlace("east", [aHolder("a"), aHolder("b", { loss: 5 }), aHolder("c")], 0, 0)],
      {},
      ["east", "b"],
    ],
    ["nobody twice within its grace", {}, [aPlace("east", [aHolder("a", { spared: true })], 0, 0)], {}, undefined],
    [
      "nobody beside one that leaves already",
      {},
      [aPlace("east", [aHolder("a", { leaving: true }), aHolder("b")], 0, 0)],
      {},
      ["east"],
    ],
    [
      "nobody who is within its own guarantee",
      {},
      [aPlace("east", [aHolder("a", { queue: "theirs" })], 0, 0)],
      {},
      undefined,
    ],
    [
      "somebody of a queue that holds more than that",
      {},
      [aPlace("east", [aHolder("a", { queue: "theirs" })], 0, 0)],
      { theirs: quota("theirs", { cpu: 8 }, { cpu: 9 }) },
      ["east", "a"],
    ],
    [
      "nobody for a Job beyond the guarantee of its queue",
      {},
      [aPlace("east", [aHolder("a")], 0, 0)],
      { mine: quota("mine", { cpu: 8 }, { cpu: 5 }) },
      undefined,
    ],
    [
      "nobody more important, if the queue says so",
      { rules: { reclaim: "LowerPriority", withinQueue: "Never" } },
      [aPlace("east", [aHolder("a", { priority: 5 })], 0, 0)],
      {},
      undefined,
    ],
    [
      "less important ones of its own queue, which also holds it back",
      { rules: { reclaim: "Never", withinQueue: "LowerPriority" } },
      [aPlace("east", [aHolder("a", { queue: "mine", priority: 5 }), aHolder("b", { queue: "mine" })], 8, 8)],
      { mine: quota("mine", { cpu: 8 }, { cpu: 8 }) },
      ["east", "b"],
    ],
    [
      "nobody when the queue allows nothing",
      { rules: { reclaim: "Never", withinQueue: "Never" } },
      [aPlace("east", [aHolder("a"), aHolder("b", { queue: "mine" })], 0, 0)],
      {},
      undefined,
    ],
  ])("%s", (_, preemptor, places, over, want) => {
    expect(named(chooseVictims(aPreemptor(preemptor), places, books(over)))).toEqual(want);
  });

  it("are never more than needed, and are enough on whichever nodes their pods are", () => {
    const pod = fc.record({ cpu: fc.integer({ min: 1, max: 8 }), node: fc.integer({ min: 0, max: 3 }) });
    const cases = fc.record({
      nodes: fc.integer({ min: 1, max: 4 }),
      pods: fc.array(pod, { maxLength: 12 }),
      cpu: fc.integer({ min: 1, max: 8 }),
      count: fc.integer({ min: 1, max: 3 }),
      gang: fc.boolean(),
    });
    fc.assert(
      fc.property(cases, ({ nodes, pods, cpu, count, gang }) => {
        const free = Array.from({ length: nodes }, () => 8);
        const on = new Map<string, { cpu: number; node: number }>();
        for (const [i, { cpu: takes, node }] of pods.entries()) {
          const at = node % nodes;
          if ((free[at] ?? 0) < takes) continue;
          free[at] = (free[at] ?? 0) - takes;
          on.set(`p${i}`, { cpu: takes, node: at });
        }
        const holders = [...on].map(([name, { cpu: takes }]) => aHolder(name, { needs: asks(takes) }));
        const place = aPlace("east", holders, ...free);
        const wanted = asks(cpu, count, gang);
        const preemptor = aPreemptor({ needs: wanted, asked: units({ jobs: 1, cpu: 1 }) });
        const found = chooseVictims(preemptor, [place], books());
        if (found === undefined) return;
        const after = [...free];
        for (const { uid } of found.victims) {
          const { cpu: takes, node } = on.get(uid) ?? { cpu: 0, node: 0 };
          after[node] = (after[node] ?? 0) + takes;
        }
        const room = after.reduce((sum, left) => sum + Math.floor(left / cpu), 0);
        expect(room).toBeGreaterThanOrEqual(gang ? count : 1);
        for (const victim of found.victims) {
          const others = found.victims.filter((other) => other !== victim).map((other) => other.needs);
          expect(new RoomAfter(wanted, place.nodes).of(others)).toBeLessThan(gang ? count : 1);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
