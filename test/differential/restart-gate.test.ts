import { expect, test } from "vitest";
import { RestartGate } from "./restart-gate.ts";

test("controllers stop when all cases wait or are out, and start when all have played what happens meanwhile", async () => {
  const log: string[] = [];
  const note = (line: string) => async (): Promise<void> => void log.push(line);
  const gate = new RestartGate(3, { stop: note("stop"), start: note("start") });
  const first = gate.pass(note("first"));
  gate.skip();
  expect(log).toEqual([]);
  const last = gate.pass(note("last"));
  await Promise.all([first, last]);
  expect(log).toEqual(["stop", "first", "last", "start"]);
});

test("a controller that does not start fails every case that waits for it", async () => {
  const gate = new RestartGate(1, { stop: () => Promise.resolve(), start: () => Promise.reject(new Error("no port")) });
  await expect(gate.pass(() => Promise.resolve())).rejects.toThrow("no port");
});
