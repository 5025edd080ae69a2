import { hubUid } from "@jobferry/shared/protocol/names.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { goesBefore, type WaitingJob, WaitingLine } from "./waiting-line.ts";

const uidOf = (text: string) => hubUid.parse(text);
const aJob = (uid: string, over: Partial<WaitingJob> = {}): WaitingJob => ({
  uid: uidOf(uid),
  queue: "default",
  lane: "l",
  priority: 0,
  since: 0,
  arrival: 0,
  ...over,
});

const drain = (room: WaitingLine): string[] => {
  const order: string[] = [];
  for (let job = room.next(); job !== undefined; job = room.next()) {
    order.push(job.uid);
    room.remove(job.uid);
  }
  return order;
};

describe("WaitingLine", () => {
  test("scenario A.13: more important first, then first come, first served, over all lanes", () => {
    const room = new WaitingLine();
    room.put(aJob("late", { since: 2, arrival: 1 }));
    room.put(aJob("a", { since: 1, arrival: 4 }));
    room.put(aJob("b", { since: 1, arrival: 3 }));
    room.put(aJob("urgent", { since: 3, priority: 5, lane: "other", arrival: 5 }));
    expect(drain(room)).toEqual(["urgent", "b", "a", "late"]);
    expect(room.size).toBe(0);
  });

  test("the queue with the least share goes first, whatever the importance of others", () => {
    const room = new WaitingLine();
    room.put(aJob("urgent", { priority: 9, queue: "busy", lane: "b" }));
    room.put(aJob("low", { since: 2, queue: "idle", lane: "i" }));
    room.put(aJob("high", { since: 3, priority: 1, queue: "idle", lane: "i" }));
    expect(room.next((queue) => (queue === "busy" ? 0.5 : 0))?.uid).toBe("high");
    expect(room.next((queue) => (queue === "busy" ? 0.5 : 1))?.uid).toBe("urgent");
  });

  test("a sleeping lane is passed over until something changes", () => {
    const room = new WaitingLine();
    room.put(aJob("big", { priority: 9, lane: "big" }));
    room.put(aJob("small"));
    room.sleep("big");
    expect(room.next()?.uid).toBe("small");
    room.put(aJob("bigger", { priority: 10, lane: "big" }));
    expect(room.next()?.uid).toBe("small");
    room.wake();
    expect(room.next()?.uid).toBe("bigger");
  });

  test("changing the priority moves a Job, putting it again unchanged does not", () => {
    const room = new WaitingLine();
    room.put(aJob("a"));
    room.put(aJob("b", { since: 1 }));
    room.put(aJob("b", { since: 1, priority: 1 }));
    room.put(aJob("b", { since: 1, priority: 1 }));
    expect(drain(room)).toEqual(["b", "a"]);
  });

  test("holes left by removals behind a blocked head are closed", () => {
    const room = new WaitingLine();
    room.put(aJob("head", { priority: 1 }));
    room.sleep("l");
    for (let i = 0; i < 10_000; i++) {
      room.put(aJob(`j${i}`));
      room.remove(uidOf(`j${i}`));
    }
    expect([...room.inLane("l")].map(({ uid }) => uid)).toEqual(["head"]);
    expect(room.slots).toBeLessThan(200);
  });

  test("any mixture of puts and removals leaves in the one total order", () => {
    const job = fc.record({
      uid: fc.integer({ min: 0, max: 30 }).map(String),
      lane: fc.constantFrom("x", "y", "z"),
      priority: fc.integer({ min: 0, max: 3 }),
      since: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), job)), (steps) => {
        const room = new WaitingLine();
        const model = new Map<string, WaitingJob>();
        for (const [isPut, fields] of steps) {
          const { uid, ...rest } = fields;
          const entry = aJob(uid, rest);
          if (isPut) {
            room.put(entry);
            model.set(entry.uid, entry);
          } else {
            room.remove(entry.uid);
            model.delete(entry.uid);
          }
        }
        const expected = [...model.values()].sort((a, b) => (goesBefore(a, b) ? -1 : 1)).map(({ uid }) => uid);
        expect(drain(room)).toEqual(expected);
      }),
    );
  });
});
