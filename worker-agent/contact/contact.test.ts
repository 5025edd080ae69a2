import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { STOP_AFTER } from "@jobferry/shared/protocol/marks.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it, vi } from "vitest";
import type { Mirrors } from "../mirrors.ts";
import { Contact } from "./contact.ts";

const aContact = (clock: Clock, onStandstill = (): void => {}): Contact =>
  new Contact({
    api: {} as KubeApi,
    clock,
    random: Math.random,
    logger: silentLogger,
    mirrors: {} as Mirrors,
    onStandstill,
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

it("finds out that its process stood still, by either clock, and once", () => {
  const time = { monotonic: 1_000, wall: 1_000_000 };
  const clock: Clock = {
    ...new VirtualClock(),
    monotonic: () => time.monotonic,
    now: () => time.wall,
    after: () => () => {},
  };
  const stood = vi.fn();
  const contact = aContact(clock, stood);
  const pass = (monotonic: number, wall = monotonic): void => {
    time.monotonic += monotonic;
    time.wall += wall;
    contact.look();
  };
  contact.look();
  pass(4_000);
  pass(0, -60_000);
  expect(stood).not.toHaveBeenCalled();
  pass(30_000);
  pass(1_000);
  expect(stood).toHaveBeenCalledTimes(1);
  pass(0, 30_000);
  expect(stood).toHaveBeenCalledTimes(2);
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
