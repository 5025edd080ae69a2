import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { Freshness } from "./freshness.ts";
import type { Health } from "./health.ts";

const managerKeys = [generateKeyPair().publicKey.text];
const said = (stamp: string, more: Partial<Health> = {}): Health => ({
  ...{
    kind: "heartbeat",
    clusterID: "one",
    agentVersion: "1",
    kubernetesVersion: "1",
    resourceVersion: 1,
    managerKeys,
  },
  ...{ capacity: {}, free: {}, largestFreeNode: {}, largestNode: {}, stamp, ...more },
});
let freshness: Freshness;
beforeEach(() => {
  freshness = new Freshness(Math.random);
});
const challenged = (now: number): string => freshness.challenge(now)?.nonce ?? "none";

it("an agent proves itself with the nonce that it was given, and is asked for what it said before", () => {
  expect(freshness.judge(said("p:1", { kind: "hello", nonce: "" }), 0)).toBe("unproven");
  const challenge = freshness.challenge(0);
  expect(challenge?.again).toBe("hello");
  expect(freshness.judge(said("p:2", { kind: "hello", nonce: challenge?.nonce ?? "" }), 10)).toBe("fresh");
  expect(freshness.challenge(10)).toBeUndefined();
});

it("what was said once is nothing when it comes again, however good its nonce", () => {
  const nonce = challenged(0);
  const [first, second] = [said("p:1", { nonce }), said("p:2", { nonce })];
  expect(freshness.judge(first, 1)).toBe("fresh");
  expect(freshness.judge(second, 2)).toBe("fresh");
  for (const old of [first, second, first]) expect(freshness.judge(old, 3)).toBe("repeated");
});

it("what was kept back is worth nothing a minute later", () => {
  const nonce = challenged(0);
  expect(freshness.judge(said("p:1", { nonce }), 60_000)).toBe("fresh");
  expect(freshness.judge(said("p:2", { nonce }), 60_001)).toBe("unproven");
});

it("renews the nonce every 20 seconds, and the one before is still good", () => {
  const first = challenged(0);
  expect(freshness.challenge(19_999)).toBeUndefined();
  const second = freshness.challenge(20_000);
  expect(second).toEqual({ nonce: expect.not.stringMatching(first) });
  expect(freshness.judge(said("p:1", { nonce: first }), 20_001)).toBe("fresh");
  expect(freshness.judge(said("p:2", { nonce: second?.nonce ?? "" }), 20_002)).toBe("fresh");
});

it("another leader's nonce proves nothing", () => {
  const other = new Freshness(Math.random).challenge(0)?.nonce ?? "";
  challenged(0);
  expect(freshness.judge(said("p:1", { nonce: other }), 1)).toBe("unproven");
});

it("answers repetitions of old words once a second at most, and never forgets that a hello is owed", () => {
  let challenges = 0;
  for (let now = 0; now < 10_000; now += 100) {
    freshness.judge(said("p:1", { kind: now === 0 ? "hello" : "heartbeat", nonce: "old" }), now);
    const challenge = freshness.challenge(now);
    if (challenge === undefined) continue;
    challenges++;
    expect(challenge.again).toBe("hello");
  }
  expect(challenges).toBe(10);
});

it("a restarted agent is told apart from its predecessor", () => {
  const nonce = challenged(0);
  expect(freshness.judge(said("before:500000", { nonce }), 1)).toBe("fresh");
  expect(freshness.judge(said("after:1", { nonce: "", kind: "hello" }), 2)).toBe("unproven");
  expect(freshness.judge(said("after:2", { nonce, kind: "hello" }), 3)).toBe("fresh");
});

it.each<[string, readonly [stamp: string, now: number | undefined][], string]>([
  [
    "goes on",
    [
      ["p:1", 100],
      ["p:2", 200],
    ],
    "fresh",
  ],
  [
    "goes on after its clock was set back",
    [
      ["p:1", 100],
      ["p:2", 50],
    ],
    "fresh",
  ],
  [
    "is restarted",
    [
      ["p:900", 100],
      ["q:1", 200],
    ],
    "fresh",
  ],
  [
    "is repeated",
    [
      ["p:1", 100],
      ["p:1", 100],
    ],
    "repeated",
  ],
  [
    "is repeated from before a restart",
    [
      ["p:900", 100],
      ["q:1", 200],
      ["p:900", 100],
    ],
    "repeated",
  ],
  [
    "is older still and tells no time",
    [
      ["p:1", undefined],
      ["q:1", undefined],
    ],
    "fresh",
  ],
])("an agent of the release before, without a nonce, %s", (_, sayings, last) => {
  const verdicts = sayings.map(([stamp, now], at) =>
    freshness.judge(said(stamp, now === undefined ? {} : { now }), at),
  );
  expect(verdicts.at(-1)).toBe(last);
});

it("whatever is repeated, delayed and mixed: no message counts twice, and none a minute after its nonce", () => {
  const step = fc.record({ pass: fc.nat(30_000), replay: fc.nat(50), speak: fc.boolean(), restart: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const judge = new Freshness(Math.random);
      const sent: { health: Health; givenAt: number }[] = [];
      const counted = new Set<Health>();
      let [now, process, nonce, givenAt] = [0, 0, "", Number.NEGATIVE_INFINITY];
      for (const { pass, replay, speak, restart } of steps) {
        now += pass;
        if (restart) {
          process++;
          nonce = "";
        }
        if (speak) sent.push({ health: said(`p${process}:${now + sent.length + 1}`, { nonce }), givenAt });
        const message = speak ? sent.at(-1) : sent[replay % Math.max(1, sent.length)];
        if (message === undefined) continue;
        if (judge.judge(message.health, now) === "fresh") {
          expect(counted.has(message.health)).toBe(false);
          expect(now - message.givenAt).toBeLessThanOrEqual(60_000);
          counted.add(message.health);
        }
        const challenge = judge.challenge(now);
        if (challenge !== undefined) [nonce, givenAt] = [challenge.nonce, now];
      }
    }),
  );
});

it("a process that was succeeded by another one proves nothing by what it said before", () => {
  const nonce = challenged(0);
  const old = said("p:5", { nonce });
  expect(freshness.judge(old, 1)).toBe("fresh");
  expect(freshness.judge(said("q:1", { nonce }), 2)).toBe("fresh");
  expect(freshness.judge(old, 3)).toBe("repeated");
  expect(freshness.isDoubled(3)).toBe(false);
});

it("an agent that is started anew, again and again, is one; two that take turns are two", () => {
  const nonce = challenged(0);
  for (const [index, process] of ["a", "b", "c", "d"].entries())
    for (const sentAt of [1, 2]) freshness.judge(said(`${process}:${sentAt}`, { nonce }), index);
  // One that stood still wakes up, and says a last word.
  freshness.judge(said("c:3", { nonce }), 10);
  freshness.judge(said("d:3", { nonce }), 11);
  expect(freshness.isDoubled(12)).toBe(false);
  freshness.judge(said("c:4", { nonce: "unknown" }), 20);
  freshness.judge(said("d:4", { nonce }), 21);
  expect([freshness.isDoubled(22), freshness.isDoubled(21 + 600_000)]).toEqual([true, false]);
});

it("remembers no more processes than it needs", () => {
  const nonce = challenged(0);
  for (let index = 0; index < 100; index++) freshness.judge(said(`p${index}:1`, { nonce }), index);
  expect(freshness.judge(said("p0:1", { nonce }), 200), "forgotten").toBe("fresh");
  expect(freshness.judge(said("p99:1", { nonce }), 200), "known").toBe("repeated");
});
