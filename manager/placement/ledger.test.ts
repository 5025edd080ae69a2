import { hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { needs } from "./fit/testing.ts";
import { type Booking, Ledger } from "./ledger.ts";

const EAST = parseClusterName("east");
const WEST = parseClusterName("west");
const uid = (text: string) => hubUid.parse(text);
const aLedger = (): Ledger => new Ledger(new Clusters(new VirtualClock(), "key"));
const booking = (cluster = EAST, queue = "night", cpu = 500): Booking => ({
  cluster,
  queue,
  needs: needs({ asks: { cpu }, pods: 2 }),
});

describe("bookings", () => {
  it("a Job that moves is booked where it is now, and nowhere else", () => {
    const ledger = aLedger();
    ledger.book(uid("u"), booking());
    ledger.book(uid("u"), booking(WEST, "day", 100));
    expect([ledger.runningOn(EAST), ledger.runningOn(WEST)]).toEqual([0, 1]);
    expect([ledger.loadOf("night").jobs, ledger.loadOf("day").used.get("cpu")]).toEqual([0, 200]);
  });

  it("the sums are those of the Jobs that are booked, whatever came before", () => {
    const act = fc.tuple(
      fc.constantFrom("a", "b", "c"),
      fc.option(fc.tuple(fc.constantFrom(EAST, WEST), fc.constantFrom("night", "day"), fc.integer({ min: 0, max: 9 }))),
    );
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        const ledger = aLedger();
        const booked = new Map<string, Booking>();
        for (const [name, to] of acts) {
          if (to === null) ledger.release(uid(name));
          else ledger.book(uid(name), booking(...to));
          if (to === null) booked.delete(name);
          else booked.set(name, booking(...to));
        }
        for (const queue of ["night", "day"]) {
          const own = [...booked.values()].filter((one) => one.queue === queue);
          const cpu = own.reduce((sum, { needs }) => sum + (needs.perPod.get("cpu") ?? 0) * needs.pods, 0);
          expect([ledger.loadOf(queue).jobs, ledger.loadOf(queue).used.get("cpu") ?? 0]).toEqual([own.length, cpu]);
        }
      }),
    );
  });
});

describe("refusals", () => {
  it("a cluster that found no node for the pods is left out for longer, and for longer every time", () => {
    const ledger = new Ledger(new Clusters(new VirtualClock(), "key"));
    const pausedUntil = (now: number): number => now + (ledger.nextTryMs(uid("u"), now) ?? 0);
    const pauses = [1, 2, 3, 4, 5, 6].map(() => {
      ledger.refuse(uid("u"), EAST, "Unschedulable", "0/1 nodes", 0);
      return pausedUntil(0) / 60_000;
    });
    expect(pauses).toEqual([10, 20, 40, 80, 120, 120]);
    expect([...ledger.refusedBy(uid("u"), 1).values()]).toEqual(["none of its nodes took the Job's pods: 0/1 nodes"]);
  });

  it("are forgotten one by one, each after its own pause, and the Job is told when to ask again", () => {
    const ledger = aLedger();
    ledger.refuse(uid("u"), EAST, "NameTaken", "taken", 0);
    ledger.refuse(uid("u"), WEST, "QuotaExceeded", "full", 0);
    expect([...ledger.refusedBy(uid("u"), 9_999).keys()]).toEqual([EAST, WEST]);
    expect(ledger.nextTryMs(uid("u"), 4_000)).toBe(6_000);
    expect([...ledger.refusedBy(uid("u"), 10_000)]).toEqual([[EAST, "refused it: taken"]]);
    expect(ledger.nextTryMs(uid("u"), 10_000)).toBe(590_000);
    expect(ledger.refusedBy(uid("u"), 600_000).size).toBe(0);
    expect(ledger.nextTryMs(uid("u"), 600_000)).toBeUndefined();
  });

  it("counts no refusal from before the submitter's last wish to be tried again", () => {
    const ledger = aLedger();
    ledger.refuse(uid("u"), EAST, "NameTaken", "taken", 0);
    expect(ledger.refusedBy(uid("u"), 1, "now").size).toBe(0);
    ledger.refuse(uid("u"), EAST, "NameTaken", "taken", 1, "now");
    expect([...ledger.refusedBy(uid("u"), 2, "now").keys()]).toEqual([EAST]);
  });

  it("pauses grow, to ten minutes and no further", () => {
    const ledger = aLedger();
    const pauses = Array.from({ length: 9 }, () => {
      ledger.refuse(uid("u"), EAST, "QuotaExceeded", "full", 0);
      return ledger.nextTryMs(uid("u"), 0);
    });
    expect(pauses.slice(0, 3)).toEqual([10_000, 20_000, 40_000]);
    expect(pauses.at(-1)).toBe(600_000);
  });

  it("a Job that is gone leaves nothing", () => {
    const ledger = aLedger();
    ledger.book(uid("u"), booking());
    ledger.refuse(uid("u"), WEST, "Other", "no", 0);
    expect(ledger.forget(uid("u"))).toEqual(booking());
    expect(ledger.forget(uid("u"))).toBeUndefined();
    expect([ledger.refusedBy(uid("u"), 1).size, ledger.runningOn(EAST)]).toEqual([0, 0]);
  });
});

describe("a cluster that says that what was missing is there", () => {
  const refused = (reason: RefusalReason, times = 1): Ledger => {
    const ledger = aLedger();
    for (let i = 0; i < times; i++) ledger.refuse(uid("u"), EAST, reason, "why", 0);
    return ledger;
  };

  it("is asked again a second after it refused, instead of at the end of the pause", () => {
    const ledger = refused("ReferenceMissing");
    expect(ledger.mended(uid("u"), EAST, 500)).toBe(true);
    expect([...ledger.refusedBy(uid("u"), 999).keys()]).toEqual([EAST]);
    expect([...ledger.refusedBy(uid("u"), 1_000).keys()]).toEqual([]);
  });

  it("is asked at once when it says so later", () => {
    const ledger = refused("NamespaceMissing", 6);
    expect([...ledger.refusedBy(uid("u"), 60_000).keys()]).toEqual([EAST]);
    ledger.mended(uid("u"), EAST, 60_000);
    expect([...ledger.refusedBy(uid("u"), 60_000).keys()]).toEqual([]);
  });

  it("is believed after ever longer pauses when it refuses again and again, and never later than without its word", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7, 20].map((times) => {
      const ledger = refused("ReferenceMissing", times);
      ledger.mended(uid("u"), EAST, 0);
      return ledger.nextTryMs(uid("u"), 0);
    });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it.each(["NameTaken", "AdmissionDenied", "QuotaExceeded"] as const)("is believed where it said %s, too", (reason) => {
    const ledger = refused(reason);
    expect(ledger.mended(uid("u"), EAST, 20_000)).toBe(true);
    expect([...ledger.refusedBy(uid("u"), 20_000).keys()]).toEqual([]);
  });

  it("and is a new process is asked again for all that it refused, and no other cluster is", () => {
    const ledger = refused("Invalid");
    ledger.refuse(uid("v"), EAST, "NameTaken", "why", 0);
    ledger.refuse(uid("v"), WEST, "NameTaken", "why", 0);
    ledger.refuse(uid("w"), WEST, "NameTaken", "why", 0);
    expect(ledger.mendedAll(EAST, 20_000)).toEqual(["u", "v"]);
    expect([...ledger.refusedBy(uid("u"), 20_000).keys()]).toEqual([]);
    expect([...ledger.refusedBy(uid("v"), 20_000).keys()]).toEqual([WEST]);
  });

  it("changes nothing about a Job that it did not refuse", () => {
    const ledger = refused("ReferenceMissing");
    expect(ledger.mended(uid("u"), WEST, 0)).toBe(false);
    expect(ledger.mended(uid("v"), EAST, 0)).toBe(false);
  });
});
