import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { onShutdown } from "./shutdown.ts";
import { VirtualClock } from "./virtual-clock.ts";

function program() {
  const clock = new VirtualClock();
  const exits: number[] = [];
  const host = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
  return { clock, exits, host, shutdown: onShutdown({ host, clock, deadlineMs: 5000 }) };
}

test.each(["SIGINT", "SIGTERM"])("%s aborts the signal and exits nothing", async (name) => {
  const { clock, exits, host, shutdown } = program();
  host.emit(name, name);
  expect(shutdown.signal.aborted).toBe(true);
  expect(String(shutdown.signal.reason)).toContain(name);
  await clock.advance(4999);
  expect(exits).toEqual([]);
});

test("a second signal exits at once, with the shell's code for it", () => {
  const { exits, host } = program();
  host.emit("SIGTERM", "SIGTERM");
  host.emit("SIGINT", "SIGINT");
  expect(exits).toEqual([130]);
});

test("what does not stop in time is ended", async () => {
  const { clock, exits, host } = program();
  host.emit("SIGTERM", "SIGTERM");
  await clock.advance(5000);
  expect(exits).toEqual([1]);
});

test("after dispose nothing is left behind", async () => {
  const { clock, exits, host, shutdown } = program();
  host.emit("SIGTERM", "SIGTERM");
  shutdown.dispose();
  await clock.advance(60_000);
  expect(exits).toEqual([]);
  expect([host.listenerCount("SIGINT"), host.listenerCount("SIGTERM")]).toEqual([0, 0]);
});
