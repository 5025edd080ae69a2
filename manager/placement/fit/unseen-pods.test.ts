import type { NodeShape } from "@jobferry/shared/protocol/node-shapes.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JobNeeds } from "./job-needs.ts";
import { aCluster, aShape, needs } from "./testing.ts";
import { UnseenPods } from "./unseen-pods.ts";

const node = (cpus: number, gpus: number, model: string): NodeShape =>
  aShape({
    nodes: 1,
    labels: { model },
    resources: ["gpu", "cpu", "pods"],
    allocatable: [8, 8000, 10],
    free: [{ nodes: 1, room: [gpus, cpus * 1000, 10] }],
  });
const job = (cpus: number, gpus: number, over: { model?: string; pods?: number; gang?: boolean } = {}): JobNeeds =>
  needs({
    asks: { ...(cpus > 0 ? { cpu: cpus * 1000 } : {}), ...(gpus > 0 ? { gpu: gpus } : {}) },
    pods: over.pods ?? 1,
    gang: over.gang ?? false,
    nodeSelector: over.model === undefined ? {} : { model: over.model },
  });
const unseen = (nodes: NodeShape[], placed: readonly JobNeeds[]): UnseenPods => {
  const pods = new UnseenPods();
  pods.reported(aCluster(nodes));
  for (const each of placed) pods.count(each, 1);
  return pods;
};

describe("room that pods which nobody has seen yet may have taken", () => {
  const two = [node(4, 1, "a"), node(8, 1, "b")];

  it.each<[string, readonly JobNeeds[], JobNeeds, boolean]>([
    ["nothing was placed", [], job(1, 1, { model: "a" }), true],
    ["one that may be on the only node that will do", [job(1, 1)], job(1, 1, { model: "a" }), false],
    ["one that cannot be there", [job(1, 1, { model: "b" })], job(1, 1, { model: "a" }), true],
    ["one that leaves enough wherever it is", [job(1, 0)], job(1, 1, { model: "a" }), true],
    ["one, and two nodes that will do", [job(1, 1)], job(1, 1), true],
    ["two, and two nodes that will do", [job(1, 1), job(2, 1)], job(1, 1), false],
    ["a gang that needs both nodes", [job(1, 1)], job(1, 1, { pods: 2, gang: true }), false],
    ["many pods of one Job", [job(1, 1, { pods: 5 })], job(1, 1), false],
  ])("%s", (_, placed, wanted, expected) => {
    expect(unseen(two, placed).leaveRoomFor(wanted)).toBe(expected);
  });

  it("does not look at nodes that are chosen by name", () => {
    const byName = needs({ nodeSelector: { "kubernetes.io/hostname": "n1" } });
    expect(unseen(two, [job(8, 1)]).leaveRoomFor(byName)).toBe(true);
  });

  it("is forgotten with the last pod, and with the nodes", () => {
    const placed = job(1, 1);
    const pods = unseen(two, [placed]);
    pods.count(placed, -1);
    expect(pods.leaveRoomFor(job(1, 1, { model: "a" }))).toBe(true);
    pods.count(placed, 1);
    pods.reported(undefined);
    expect(pods.leaveRoomFor(job(1, 1, { model: "a" }))).toBe(true);
  });
});

it("wherever the scheduler binds what was placed, whoever is let in has room", () => {
  const size = fc.record({ cpus: fc.nat(8), gpus: fc.nat(3), model: fc.constantFrom("a", "b") });
  const asks = fc.record({
    cpus: fc.nat(5),
    gpus: fc.nat(2),
    model: fc.constantFrom(undefined, "a", "b"),
    pods: fc.integer({ min: 1, max: 2 }),
    gang: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(size, { minLength: 1, maxLength: 5 }),
      fc.array(asks, { minLength: 1, maxLength: 4 }),
      asks,
      fc.infiniteStream(fc.nat(1000)),
      (sizes, before, last, chance) => {
        const nodes = sizes.map(({ cpus, gpus, model }) => ({ cpus, gpus, model, pods: 10 }));
        const jobOf = ({ cpus, gpus, model, pods, gang }: (typeof before)[number]): JobNeeds =>
          job(cpus, gpus, { ...(model === undefined ? {} : { model }), pods, gang });
        const pods = unseen(
          sizes.map(({ cpus, gpus, model }) => node(cpus, gpus, model)),
          before.map(jobOf),
        );
        const bind = ({ cpus, gpus, model }: (typeof before)[number]): boolean => {
          const open = nodes.filter(
            (each) => each.cpus >= cpus && each.gpus >= gpus && each.pods > 0 && (model ?? each.model) === each.model,
          );
          const chosen = open[(chance.next().value ?? 0) % Math.max(1, open.length)];
          if (chosen === undefined) return false;
          chosen.cpus -= cpus;
          chosen.gpus -= gpus;
          chosen.pods--;
          return true;
        };
        for (const each of before) for (let i = 0; i < each.pods; i++) bind(each);
        if (!pods.leaveRoomFor(jobOf(last))) return;
        for (let i = 0; i < (last.gang ? last.pods : 1); i++) expect(bind(last)).toBe(true);
      },
    ),
    { numRuns: 2000 },
  );
});
