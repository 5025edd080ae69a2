import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { borrowed, isWithinGuarantee, type QueueQuota, quotaObstacle } from "./quota.ts";

const units = (amounts: Record<string, number> = {}) => new Map(Object.entries(amounts));
interface Over {
  quota?: Record<string, number>;
  limit?: Record<string, number>;
  used?: Record<string, number>;
  cohort?: { quota: Record<string, number>; used: Record<string, number> };
}
const aQueue = ({ quota, limit, used, cohort }: Over): QueueQuota => ({
  name: "a",
  quota: units(quota),
  borrowLimit: units(limit),
  used: units(used),
  cohort: cohort && { name: "team", members: new Set(["a"]), quota: units(cohort.quota), used: units(cohort.used) },
});
const together = { quota: { cpu: 30 }, used: { cpu: 12 } };

describe("the quota of a queue", () => {
  test.each<[string, Over, Record<string, number>, string | undefined, boolean]>([
    ["without one nothing is limited", {}, { cpu: 99 }, undefined, false],
    ["within it", { quota: { cpu: 10 }, used: { cpu: 8 } }, { cpu: 2 }, undefined, false],
    [
      "beyond it, for now",
      { quota: { cpu: 10 }, used: { cpu: 8 } },
      { cpu: 3 },
      "quota of queue a (cpu: asks 3m, holds 8m, may hold 10m)",
      false,
    ],
    [
      "beyond it, ever",
      { quota: { cpu: 10 } },
      { cpu: 11 },
      "quota of queue a (cpu: asks 11m, holds 0, may hold 10m)",
      true,
    ],
    ["another resource is free", { quota: { cpu: 10 } }, { cpu: 1, memory: 99 }, undefined, false],
    [
      "a limited resource must be requested",
      { quota: { cpu: 10 } },
      { memory: 1 },
      "queue a limits cpu: the Job must request it",
      true,
    ],
    [
      "nothing is allowed",
      { quota: { jobs: 0 } },
      { jobs: 1 },
      "quota of queue a (jobs: asks 1, holds 0, may hold 0)",
      true,
    ],
    [
      "in a cohort it borrows what is idle",
      { quota: { cpu: 10 }, used: { cpu: 10 }, cohort: together },
      { cpu: 18 },
      undefined,
      false,
    ],
    [
      "but not more",
      { quota: { cpu: 10 }, used: { cpu: 10 }, cohort: together },
      { cpu: 19 },
      "quota of queue a (cpu: asks 19m, holds 10m, may hold 10m, and 18m of 30m are idle in cohort team)",
      false,
    ],
    [
      "nor more than its limit",
      { quota: { cpu: 10 }, limit: { cpu: 5 }, used: { cpu: 10 }, cohort: together },
      { cpu: 6 },
      "quota of queue a (cpu: asks 6m, holds 10m, may hold 10m and borrow 5m)",
      false,
    ],
    [
      "what exceeds quota and limit together never runs",
      { quota: { cpu: 10 }, limit: { cpu: 5 }, cohort: together },
      { cpu: 16 },
      "quota of queue a (cpu: asks 16m, holds 0, may hold 10m and borrow 5m)",
      true,
    ],
    [
      "its own guarantee it has even when the others hold everything",
      { quota: { cpu: 10 }, cohort: { quota: { cpu: 30 }, used: { cpu: 30 } } },
      { cpu: 10 },
      undefined,
      false,
    ],
    ["a resource of others only can be borrowed", { cohort: together }, { cpu: 18 }, undefined, false],
    [
      "up to what is idle",
      { cohort: together },
      { cpu: 31 },
      "quota of queue a (cpu: asks 31m, holds 0, may hold 0, and 18m of 30m are idle in cohort team)",
      true,
    ],
    ["and need not be requested", { cohort: together }, { memory: 5 }, undefined, false],
  ])("%s", (_, over, asked, reason, never) => {
    const obstacle = quotaObstacle(units(asked), aQueue(over));
    expect(obstacle).toEqual(reason === undefined ? undefined : { reason, resource: expect.any(String), never });
  });

  test("what is borrowed is what is held beyond the quota, in a cohort", () => {
    const used = { cpu: 12, memory: 3 };
    expect(borrowed(aQueue({ quota: { cpu: 10 }, used, cohort: together }))).toEqual(units({ cpu: 2 }));
    expect(borrowed(aQueue({ quota: { cpu: 10 }, used }))).toEqual(new Map());
  });

  test.each<[string, Over, boolean]>([
    ["a queue without a quota is owed nothing", {}, false],
    ["below it", { quota: { cpu: 10 }, used: { cpu: 9 } }, true],
    ["beyond it", { quota: { cpu: 10 }, used: { cpu: 10 } }, false],
    ["beyond one of two", { quota: { cpu: 10, memory: 0 }, used: { cpu: 9 } }, true],
    ["beyond the other of two", { quota: { cpu: 10, jobs: 0 } }, false],
  ])("within the guarantee: %s", (_, over, expected) => {
    expect(isWithinGuarantee(units({ cpu: 1, jobs: 1 }), aQueue(over))).toBe(expected);
  });
});

test("however Jobs come and go: guarantees hold, limits hold, and nobody borrows what is not there", () => {
  const queue = fc.record({ quota: fc.nat(20), limit: fc.option(fc.nat(20), { nil: undefined }) });
  const step = fc.record({ queue: fc.nat(3), asks: fc.integer({ min: 1, max: 15 }), ends: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(queue, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.array(step, { maxLength: 60 }),
      (queues, inCohort, steps) => {
        const used = queues.map(() => 0);
        const running: { queue: number; asks: number }[] = [];
        const total = queues.reduce((sum, { quota }) => sum + quota, 0);
        const viewOf = (i: number): QueueQuota => {
          const { quota = 0, limit } = queues[i] ?? {};
          const held = used.reduce((sum, amount) => sum + amount, 0);
          return aQueue({
            quota: { cpu: quota },
            used: { cpu: used[i] ?? 0 },
            ...(limit === undefined ? {} : { limit: { cpu: limit } }),
            ...(inCohort ? { cohort: { quota: { cpu: total }, used: { cpu: held } } } : {}),
          });
        };
        for (const { queue: pick, asks, ends } of steps) {
          const i = pick % queues.length;
          if (ends) {
            const [ended] = running.splice(0, 1);
            if (ended !== undefined) used[ended.queue] = (used[ended.queue] ?? 0) - ended.asks;
            continue;
          }
          const { quota = 0, limit = Number.POSITIVE_INFINITY } = queues[i] ?? {};
          const view = viewOf(i);
          const heldBefore = used.reduce((sum, amount) => sum + amount, 0);
          const obstacle = quotaObstacle(units({ cpu: asks }), view);
          const owed = isWithinGuarantee(units({ cpu: asks }), view);
          if (owed) expect(obstacle).toBeUndefined();
          if (obstacle !== undefined) continue;
          used[i] = (used[i] ?? 0) + asks;
          running.push({ queue: i, asks });
          expect(used[i]).toBeLessThanOrEqual(inCohort ? quota + limit : quota);
          if (!owed) expect(heldBefore + asks).toBeLessThanOrEqual(total);
        }
      },
    ),
  );
});
