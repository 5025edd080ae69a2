import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareTurns, dominantShare, type Turn } from "./share.ts";

const units = (amounts: Record<string, number>) => new Map(Object.entries(amounts));
const fleet = units({ cpu: 100, memory: 1000, "nvidia.com/gpu": 8 });

describe("the share of a queue", () => {
  test.each<[string, Record<string, number>, number, number]>([
    ["nothing held", {}, 1, 0],
    ["the resource of which it holds the largest part counts", { cpu: 10, memory: 50 }, 1, 0.1],
    ["one GPU of eight outweighs many CPUs", { cpu: 10, "nvidia.com/gpu": 1 }, 1, 0.125],
    ["a queue of twice the weight has half the share", { cpu: 10 }, 2, 0.05],
    ["of a resource that is gone it holds all", { "example.com/dongle": 1 }, 4, 0.25],
    ["a resource that was given back does not count", { "example.com/dongle": 0 }, 1, 0],
  ])("%s", (_, held, weight, expected) => {
    expect(dominantShare(units(held), fleet, weight)).toBeCloseTo(expected, 12);
  });

  test("a queue confined to a small cluster is measured by what that cluster has", () => {
    expect(dominantShare(units({ cpu: 5 }), units({ cpu: 10 }), 1)).toBe(0.5);
  });

  const amounts = fc.record({ cpu: fc.nat(100), memory: fc.nat(100), gpu: fc.nat(100) }).map((record) => units(record));

  test("never falls when more is held, and does not change with the size of everything", () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, fc.integer({ min: 1, max: 9 }), (held, more, reach, weight) => {
        const sum = new Map([...held].map(([resource, amount]) => [resource, amount + (more.get(resource) ?? 0)]));
        const share = dominantShare(held, reach, weight);
        expect(dominantShare(sum, reach, weight)).toBeGreaterThanOrEqual(Math.min(share, 1 / weight));
        const tenfold = (of: ReadonlyMap<string, number>) =>
          new Map([...of].map(([name, amount]) => [name, 10 * amount]));
        expect(dominantShare(tenfold(held), tenfold(reach), weight)).toBeCloseTo(share, 9);
      }),
    );
  });
});

describe("the order of queues", () => {
  test("owed first, then the least share; their Jobs decide between equals", () => {
    const turns: (Turn & { queue: string })[] = [
      { queue: "c", owed: false, share: 0.1 },
      { queue: "b", owed: false, share: 0.05 },
      { queue: "a", owed: true, share: 0.9 },
    ];
    expect(turns.sort(compareTurns).map(({ queue }) => queue)).toEqual(["a", "b", "c"]);
    expect(compareTurns({ owed: true, share: 0.5 }, { owed: true, share: 0.5 })).toBe(0);
  });

  test("queues that always have Jobs end up with what their weights say, within one Job each", () => {
    const job = fc.record({ cpu: fc.integer({ min: 1, max: 20 }), memory: fc.integer({ min: 1, max: 20 }) });
    const queue = fc.record({ weight: fc.integer({ min: 1, max: 5 }), job });
    fc.assert(
      fc.property(fc.array(queue, { minLength: 2, maxLength: 5 }), (queues) => {
        const reach = units({ cpu: 10_000, memory: 10_000 });
        const held = queues.map(() => new Map<string, number>());
        const shareOf = (i: number): number => dominantShare(held[i] ?? new Map(), reach, queues[i]?.weight ?? 1);
        const free = new Map(reach);
        for (;;) {
          const turns = queues.map((_, i) => ({ queue: String(i), owed: false, share: shareOf(i) })).sort(compareTurns);
          const next = Number(turns[0]?.queue);
          const asks = Object.entries(queues[next]?.job ?? {});
          if (asks.some(([resource, amount]) => (free.get(resource) ?? 0) < amount)) break;
          for (const [resource, amount] of asks) {
            free.set(resource, (free.get(resource) ?? 0) - amount);
            held[next]?.set(resource, (held[next]?.get(resource) ?? 0) + amount);
          }
        }
        const shares = queues.map((_, i) => shareOf(i));
        // One Job is at most 20 of 10,000.
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(20 / 10_000 + 1e-9);
      }),
    );
  });
});
