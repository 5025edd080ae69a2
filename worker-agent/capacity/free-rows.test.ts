import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freeRows } from "./free-rows.ts";

const rows = (...rooms: number[][]) => rooms.map((room) => ({ nodes: 1, room }));

describe("rows of free room", () => {
  test("are exact while there are few", () => {
    expect(freeRows(rows([1, 5], [1, 5], [2, 1]), [8, 8], [false, false], 4)).toEqual([
      { nodes: 2, room: [1, 5] },
      { nodes: 1, room: [2, 1] },
    ]);
  });

  test("of about the same room are joined with the least of each figure when there are many", () => {
    const many = rows(...Array.from({ length: 64 }, (_, i) => [1000 + i, 63_990 - i]), [0, 63_990]);
    expect(freeRows(many, [64_000, 64_000], [false, false], 2)).toEqual([
      { nodes: 1, room: [0, 63_990] },
      { nodes: 64, room: [1000, 63_927] },
    ]);
  });

  test("with another number of GPUs are joined last, and with their neighbours", () => {
    const many = rows([0, 1], [0, 900], [4, 5], [4, 950], [8, 3]);
    expect(freeRows(many, [8, 1000], [true, false], 3)).toEqual([
      { nodes: 2, room: [0, 1] },
      { nodes: 2, room: [4, 5] },
      { nodes: 1, room: [8, 3] },
    ]);
  });

  test("there may be no nodes, and nodes without any room", () => {
    expect(freeRows([], [8], [false], 4)).toEqual([]);
    expect(freeRows(rows([0], [0]), [0], [false], 1)).toEqual([{ nodes: 2, room: [0] }]);
  });

  test("keep to the limit, lose no node, and never promise what a node does not have", () => {
    const room = fc.tuple(fc.nat(64), fc.nat(8), fc.nat(1000));
    fc.assert(
      fc.property(fc.array(room, { maxLength: 80 }), fc.integer({ min: 1, max: 16 }), (rooms, limit) => {
        const named = rooms.map((free, i) => ({ nodes: 1, room: free, names: [String(i)] }));
        const found = freeRows(named, [64, 8, 1000], [false, true, false], limit);
        expect(found.length).toBeLessThanOrEqual(limit);
        expect(
          found
            .flatMap(({ names = [] }) => names)
            .map(Number)
            .sort((a, b) => a - b),
        ).toEqual([...rooms.keys()]);
        for (const { nodes, room: promised, names = [] } of found) {
          expect(names).toHaveLength(nodes);
          for (const name of names)
            for (const [i, amount] of promised.entries())
              expect(amount).toBeLessThanOrEqual(rooms[Number(name)]?.[i] ?? Number.NaN);
        }
      }),
    );
  });
});
