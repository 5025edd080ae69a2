import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EAST, epochOf, UID } from "../testing/hub-job.ts";
import { Inbox } from "./inbox.ts";

const status = (epoch: number, seq: number) => ({ cluster: EAST, epoch: epochOf(epoch), seq, status: {} });
const withdrawn = { kind: "withdrawn" as const, uid: UID, epoch: epochOf(1) };

describe("Inbox", () => {
  it("keeps the newest report, in whatever order they come", () => {
    const one = fc.record({ epoch: fc.integer({ min: 1, max: 3 }), seq: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1 }), (reports) => {
        const inbox = new Inbox();
        for (const { epoch, seq } of reports) inbox.status(UID, status(epoch, seq));
        const newest = reports.reduce((a, b) => (b.epoch > a.epoch || (b.epoch === a.epoch && b.seq > a.seq) ? b : a));
        expect(inbox.peek(UID).status).toMatchObject(newest);
      }),
    );
  });

  it("drops only what was dealt with", () => {
    const inbox = new Inbox();
    inbox.status(UID, status(1, 1));
    inbox.answer(UID, { ...withdrawn, cluster: EAST });
    const seen = { ...inbox.peek(UID) };
    inbox.status(UID, status(1, 2));
    inbox.done(UID, seen);
    expect(inbox.peek(UID)).toEqual({ status: status(1, 2) });
    inbox.done(UID, { ...inbox.peek(UID) });
    expect(inbox.peek(UID)).toEqual({});
  });

  it("forgets a Job", () => {
    const inbox = new Inbox();
    inbox.answer(UID, { ...withdrawn, cluster: EAST });
    inbox.forget(UID);
    expect(inbox.peek(UID)).toEqual({});
  });
});
