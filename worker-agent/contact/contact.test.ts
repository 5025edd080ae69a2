import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { STOP_AFTER } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it, vi } from "vitest";
import type { Mirrors } from "../mirrors.ts";
import { Contact } from "./contact.ts";

const aContact = (clock: Clock): Contact =>
  new Contact({
    api: {} as KubeApi,
    clock,
    random: Math.random,
    logger: silentLogger,
    mirrors: {} as Mirrors,
    onStandstill: () => {},
  });

it("takes for an answer only what gives back a word of this process, said since it was last cut off", async () => {
  const clock = new VirtualClock();
  const [contact, predecessor] = [aContact(clock), aContact(clock)];
  const first = contact.stamp();
  expect(contact.isAnswer(first)).toBe(true);
  for (const other of [undefined, "", "x", predecessor.stamp()]) expect(contact.isAnswer(other)).toBe(false);
  await clock.advance(5_000);
  contact.cutOff();
  expect(contact.isAnswer(first)).toBe(false);
  expect(contact.isAnswer(contact.stamp())).toBe(true);
});

/** A machine whose clocks are moved by hand. */
function aMachine() {
  const time = { monotonic: 1_000, wall: 1_000_000 };
  const clock: Clock = {
    ...new VirtualClock(),
    monotonic: () => time.monotonic,
    now: () => time.wall,
    after: () => () => {},
  };
  const contact = aContact(clock);
  contact.missedTime();
  const pass = (monotonic: number, wall = monotonic): number => {
    time.monotonic += monotonic;
    time.wall += wall;
    return contact.missedTime();
  };
  return { contact, pass };
}

it("finds out that its process stood still, by either clock, and once", () => {
  const { pass } = aMachine();
  expect(pass(4_000)).toBe(0);
  expect(pass(0, -60_000)).toBe(0);
  expect(pass(30_000)).toBe(30_000);
  expect(pass(1_000)).toBe(0);
  expect(pass(0, 30_000)).toBe(30_000);
});

it("F15 a machine that was suspended counts the time in which its monotonic clock stood still as time without contact", () => {
  const { contact, pass } = aMachine();
  const before = contact.stamp();
  contact.heard(before);
  expect(contact.holds(600)).toBe(true);
  pass(0, 20 * 60_000);
  contact.cutOff();
  // The manager is given a moment to answer: it may only have been a clock that was set.
  expect(contact.holds(600)).toBe(true);
  for (let s = 0; s < 11; s++) pass(1_000);
  expect(contact.holds(600)).toBe(false);
  contact.heard(before);
  expect(contact.holds(600)).toBe(false);
  contact.heard(contact.stamp());
  expect(contact.holds(600)).toBe(true);
});

it("a process that was frozen is given no such moment: its clock went on", () => {
  const { contact, pass } = aMachine();
  contact.heard(contact.stamp());
  pass(20 * 60_000);
  expect(contact.holds(600)).toBe(false);
});

it("takes a process for one that goes on while it waits for an API server that does not answer", async () => {
  const clock = new VirtualClock();
  const stood = vi.fn();
  const end = new AbortController();
  const { promise: unanswered, resolve: answer } = Promise.withResolvers<void>();
  const mirror = { metadata: { annotations: { [STOP_AFTER]: "1" } }, spec: {} };
  const contact = new Contact({
    api: { patch: () => unanswered } as unknown as KubeApi,
    clock,
    random: Math.random,
    logger: silentLogger,
    mirrors: { all: () => [{ mirror }] } as unknown as Mirrors,
    onStandstill: stood,
  });
  const watching = contact.watch(end.signal);
  await clock.advance(60_000);
  expect(contact.holds(1)).toBe(false);
  answer();
  await clock.advance(2_000);
  end.abort();
  await watching;
  expect(stood).not.toHaveBeenCalled();
});
