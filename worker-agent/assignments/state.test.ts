import type { AssignmentDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { giveBack, receive, release, type State, States } from "./state.ts";

const uid = hubUid.parse("u1");
type Desired = AssignmentDelivery["desired"];

function delivery(number: number, revision: number, desired: Desired = "run"): AssignmentDelivery {
  const about = { kind: "assignment", uid, epoch: epoch.parse(number), revision } as const;
  if (desired === "hand-over") return { ...about, desired };
  if (desired === "delete") return { ...about, desired, propagationPolicy: "Foreground" };
  const job = { spec: { template: { spec: { containers: [] } } } };
  return { ...about, desired, generation: 1, namespace: "team", name: "pi", job };
}

const refusal = { reason: "QuotaExceeded", message: "no room" } as const;
const at = (state: State): string => (state.at === "due" ? `due ${state.delivery.desired}` : state.at);
const newest = { epoch: epoch.parse(2), revision: 5 };
const states: Record<string, State> = {
  running: { at: "running", ...newest },
  "due run": { at: "due", ...newest, delivery: delivery(2, 5) },
  "due hand-over": { at: "due", ...newest, delivery: delivery(2, 5, "hand-over") },
  "due delete": { at: "due", ...newest, delivery: delivery(2, 5, "delete") },
  "giving-back": { at: "giving-back", ...newest, refusal },
  over: { at: "over", ...newest, answer: { kind: "withdrawn" }, owed: false },
  released: { at: "released", ...newest },
};

describe("a delivery of the same epoch", () => {
  it.each<[string, Desired, number, string]>([
    ["running", "run", 6, "due run"],
    ["running", "run", 5, "due run"],
    ["running", "run", 4, "running"],
    ["running", "hand-over", 4, "due hand-over"],
    ["running", "delete", 4, "due delete"],
    ["due run", "run", 6, "due run"],
    ["due run", "hand-over", 4, "due hand-over"],
    ["due hand-over", "run", 6, "due hand-over"],
    ["due hand-over", "delete", 4, "due delete"],
    ["due delete", "run", 6, "due delete"],
    ["due delete", "hand-over", 6, "due delete"],
    ["giving-back", "run", 6, "giving-back"],
    ["giving-back", "hand-over", 6, "due hand-over"],
    ["giving-back", "delete", 6, "due delete"],
    ["over", "delete", 6, "due delete"],
    ["released", "run", 6, "due hand-over"],
    ["released", "hand-over", 6, "due hand-over"],
    ["released", "delete", 6, "due delete"],
  ])("%s + %s of revision %d -> %s", (before, desired, revision, after) => {
    const { state, newer } = receive(states[before], delivery(2, revision, desired), undefined);
    expect(state && at(state)).toBe(after);
    expect(state?.revision).toBe(Math.max(5, revision));
    expect(newer).toBeUndefined();
  });

  it.each<Desired>(["run", "hand-over"])("over + %s: the answer is owed once more", (desired) => {
    expect(receive(states.over, delivery(2, 6, desired), undefined).state).toMatchObject({ at: "over", owed: true });
  });

  it("of two that say run, the newer counts, in whichever order they come", () => {
    const [old, young] = [delivery(2, 6), delivery(2, 7)];
    for (const [first, second] of [
      [old, young],
      [young, old],
    ] as const) {
      const { state } = receive(receive(states.running, first, undefined).state, second, undefined);
      expect(state).toMatchObject({ at: "due", delivery: young });
    }
  });
});

describe("a delivery of another epoch", () => {
  it.each(Object.keys(states))("%s + a later epoch -> what that wants", (before) => {
    const { state } = receive(states[before], delivery(3, 1), undefined);
    expect(state).toMatchObject({ at: "due", epoch: 3, revision: 1 });
  });

  it.each(Object.keys(states))("%s + an earlier epoch: told which one is known, and stays", (before) => {
    for (const desired of ["run", "hand-over", "delete"] as const) {
      const received = receive(states[before], delivery(1, 99, desired), undefined);
      expect(received).toEqual({ state: states[before], newer: 2 });
    }
  });

  it("after a restart the mirror tells which epoch is known", () => {
    expect(receive(undefined, delivery(1, 99), epoch.parse(4))).toEqual({ state: undefined, newer: 4 });
    expect(receive(states.running, delivery(3, 99), epoch.parse(4))).toEqual({ state: states.running, newer: 4 });
    expect(receive(undefined, delivery(4, 99), epoch.parse(4)).state).toMatchObject({ at: "due", epoch: 4 });
  });
});

it("within an epoch the way leads only forward, whatever comes in whatever order", () => {
  const desired = fc.constantFrom<Desired | "release">("run", "hand-over", "delete", "release");
  const said = fc.record({ desired, number: fc.integer({ min: 1, max: 3 }), revision: fc.integer({ min: 1, max: 9 }) });
  fc.assert(
    fc.property(fc.array(said, { maxLength: 12 }), (all) => {
      let state: State | undefined;
      const ended = new Set<number>();
      for (const each of all) {
        const ref = { uid, epoch: epoch.parse(each.number) };
        if (each.desired === "release") state = release(state, ref);
        else ({ state } = receive(state, delivery(each.number, each.revision, each.desired), undefined));
        if (each.desired !== "run" && each.number === state?.epoch) ended.add(each.number);
        if (state?.at === "due" && state.delivery.desired === "run") expect(ended.has(state.epoch)).toBe(false);
      }
    }),
  );
});

describe("release", () => {
  const ref = (number: number) => ({ uid, epoch: epoch.parse(number) });

  it.each(["running", "due run", "due hand-over", "giving-back", "over", "released"])("%s -> released", (before) => {
    expect(release(states[before], ref(2))).toEqual({ at: "released", ...newest });
  });

  it("a deletion goes on to its end, as somebody waits for that", () => {
    expect(release(states["due delete"], ref(2))).toBe(states["due delete"]);
  });

  it("of an earlier epoch it is of no interest, of a later one it counts", () => {
    expect(release(states.running, ref(1))).toBe(states.running);
    expect(release(states.running, ref(3))).toMatchObject({ at: "released", epoch: 3 });
    expect(release(undefined, ref(3))).toMatchObject({ at: "released", epoch: 3 });
  });
});

describe("giving back", () => {
  it("takes what runs, also after a restart, and nothing that is about to change or to end", () => {
    const ref = { uid, epoch: epoch.parse(2) };
    expect(giveBack(undefined, ref, refusal)).toMatchObject({ at: "giving-back", epoch: 2, refusal });
    expect(giveBack(states.running, ref, refusal)).toMatchObject({ at: "giving-back", revision: 5 });
    for (const before of ["due run", "due hand-over", "due delete", "over", "released"])
      expect(giveBack(states[before], ref, refusal)).toBe(states[before]);
    expect(giveBack(states.running, { uid, epoch: epoch.parse(1) }, refusal)).toBe(states.running);
  });
});

it("remembers everything that is left to do, and of the rest the newest", () => {
  const all = new States();
  const name = (i: number): HubUid => hubUid.parse(`u${i}`);
  for (let i = 0; i < 20_000; i++) all.set(name(i), { at: "due", ...newest, delivery: delivery(2, 5) });
  expect(all.open()).toHaveLength(20_000);
  for (let i = 0; i < 20_000; i++) all.set(name(i), { at: "running", ...newest });
  expect(all.open()).toEqual([]);
  expect(all.get(name(19_999))).toMatchObject({ at: "running" });
  expect(all.get(name(0))).toBeUndefined();
});
