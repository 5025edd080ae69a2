import { hubUid } from "@jobferry/shared/protocol/names.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { hasPlace } from "../fit/vectors.ts";
import { AsksIndex } from "./asks-index.ts";
import { goesBefore, type WaitingJob } from "./job-heap.ts";

const vector = fc.tuple(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 3 }),
);
interface Member {
  asks: number[];
  first: WaitingJob;
}

it("finds just those who have place in one of the rooms, and the first of them, whoever came and went", () => {
  const act = fc.record({ asks: vector, priority: fc.nat(5), goes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(act), fc.array(vector, { maxLength: 3 }), (acts, rooms) => {
      const index = new AsksIndex<Member>();
      const members = new Set<Member>();
      for (const [arrival, { asks, priority, goes }] of acts.entries()) {
        const [oldest] = members;
        if (goes && oldest !== undefined) {
          index.delete(oldest);
          members.delete(oldest);
        }
        const first = { uid: hubUid.parse(`u-${arrival}`), priority, since: 0, arrival };
        const member = { asks: [...asks], first };
        index.add(member);
        members.add(member);
      }
      const wanted = [...members].filter(({ asks }) => hasPlace(asks, rooms));
      const found = new Set<Member>();
      index.visit(
        rooms,
        () => undefined,
        (member) => found.add(member).size < 0,
      );
      expect(found).toEqual(new Set(wanted));
      let best: Member | undefined;
      index.visit(
        rooms,
        () => best?.first,
        (member) => {
          best = member;
          return true;
        },
      );
      expect(best).toBe(wanted.sort((one, other) => (goesBefore(one.first, other.first) ? -1 : 1))[0]);
      for (const member of members) index.delete(member);
      expect(index.isEmpty).toBe(true);
    }),
  );
});
