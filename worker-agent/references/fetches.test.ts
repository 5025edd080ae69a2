import type { ContentsDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { cutIntoPieces } from "@jobferry/shared/references/contents.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import type { Place } from "./copy.ts";
import { Fetches } from "./fetches.ts";

const ref = (uid: string) => ({ uid: hubUid.parse(uid), epoch: epoch.parse(1) });
const place = (name: string): Place => ({ kind: "ConfigMap", namespace: "team", name, hash: "ab".repeat(32) });
const TEXT = JSON.stringify({ data: { a: "x".repeat(1_000) } });

function contents(uid: string, name: string, size = 5_000): ContentsDelivery[] {
  const pieces = cutIntoPieces(TEXT, size) ?? [];
  const { namespace: _, ...reference } = place(name);
  return pieces.map((text, index) => ({
    ...{ kind: "contents", ...ref(uid), reference, piece: index + 1, pieces: pieces.length, text },
  }));
}

function rig(store: () => Promise<void> = async () => {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const stored: string[] = [];
  const settled: string[] = [];
  const fetches = new Fetches({
    clock,
    logger: silentLogger,
    transport: {
      async sendReport(report: Report) {
        if (report.kind === "ask") asked.push(...report.references.map(({ name }) => `${report.uid} ${name}`));
      },
    },
    async store({ name }, { data }) {
      stored.push(`${name} ${data?.a?.length}`);
      await store();
    },
    settled: (jobs) => settled.push(...jobs),
  });
  return { clock, fetches, asked, stored, settled };
}

it("asks once for what several Jobs lack, and wakes all of them", async () => {
  const { clock, fetches, asked, stored, settled } = rig();
  for (const uid of ["a", "b", "c"]) fetches.want(ref(uid), place("words"), "team");
  expect(asked).toEqual(["a words"]);
  for (const piece of contents("a", "words")) fetches.take(piece);
  await clock.advance(1);
  expect([stored, settled]).toEqual([["words 1000"], ["a", "b", "c"]]);
});

it("puts pieces together in any order, doubled or not, and stores once", async () => {
  const { clock, fetches, stored } = rig();
  fetches.want(ref("a"), place("words"), "team");
  const pieces = contents("a", "words", 400);
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of [...pieces.slice(1).reverse(), ...pieces, ...pieces]) fetches.take(piece);
  await clock.advance(1);
  expect(stored).toEqual(["words 1000"]);
});

it.each([
  ["that nobody asked for", contents("a", "other")],
  ["of a Job that does not wait for it", contents("z", "words")],
])("drops contents %s", async (_, pieces) => {
  const { clock, fetches, stored } = rig();
  fetches.want(ref("a"), place("words"), "team");
  for (const piece of pieces) fetches.take(piece);
  await clock.advance(1);
  expect(stored).toEqual([]);
});

it("has a few under way at a time, and asks for all in the end", async () => {
  const { clock, fetches, asked } = rig();
  for (let i = 0; i < 100; i++) fetches.want(ref("a"), place(`m${i}`), "team");
  expect(asked).toHaveLength(16);
  for (let i = 0; i < 100; i++) {
    for (const piece of contents("a", `m${i}`)) fetches.take(piece);
    await clock.advance(1);
  }
  expect(new Set(asked).size).toBe(100);
});

it("lets those who wait look again when no answer comes, or when it cannot be stored", async () => {
  const late = rig();
  late.fetches.want(ref("a"), place("words"), "team");
  await late.clock.advance(10_000);
  expect(late.settled).toEqual(["a"]);
  late.fetches.want(ref("a"), place("words"), "team");
  expect(late.asked).toEqual(["a words", "a words"]);
  const failing = rig(() => Promise.reject(new Error("no")));
  failing.fetches.want(ref("a"), place("words"), "team");
  for (const piece of contents("a", "words")) failing.fetches.take(piece);
  await failing.clock.advance(1);
  expect(failing.settled).toEqual(["a"]);
});

it("waits as long as pieces come, however slowly, and not longer", async () => {
  const { clock, fetches, asked, stored, settled } = rig();
  fetches.want(ref("a"), place("words"), "team");
  const pieces = contents("a", "words", 400);
  for (const piece of pieces.slice(0, -1)) {
    await clock.advance(9_000);
    fetches.take(piece);
  }
  expect([asked, settled]).toEqual([["a words"], []]);
  await clock.advance(9_000);
  for (const piece of pieces.slice(-1)) fetches.take(piece);
  await clock.advance(1);
  expect(stored).toEqual(["words 1000"]);
});

it("asks in the name of the next Job when the first one is gone, and not at all when nobody is left", async () => {
  const { clock, fetches, asked, stored } = rig();
  for (const uid of ["a", "b"]) fetches.want(ref(uid), place("words"), "team");
  fetches.want(ref("a"), place("alone"), "team");
  fetches.leave(ref("a").uid);
  expect(asked).toEqual(["a words", "a alone", "b words"]);
  for (const name of ["words", "alone"]) for (const piece of contents("a", name)) fetches.take(piece);
  for (const piece of contents("b", "words")) fetches.take(piece);
  await clock.advance(60_000);
  expect(stored).toEqual(["words 1000"]);
  expect(asked).toHaveLength(3);
});

it("wakes a Job when all that it waits for has come or is late, and not for each of them", async () => {
  const { clock, fetches, settled } = rig();
  for (const name of ["one", "two", "three"]) fetches.want(ref("a"), place(name), "team");
  fetches.want(ref("b"), place("one"), "team");
  for (const name of ["one", "two"]) for (const piece of contents("a", name)) fetches.take(piece);
  await clock.advance(1);
  expect([settled, fetches.isAwaited(ref("a").uid), fetches.isAwaited(ref("b").uid)]).toEqual([["b"], true, false]);
  await clock.advance(10_000);
  expect([settled, fetches.isAwaited(ref("a").uid)]).toEqual([["b", "a"], false]);
});
