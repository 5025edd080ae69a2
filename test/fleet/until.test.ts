import { expect, it } from "vitest";
import { until } from "./until.ts";

it("gives what was found, once there is something", async () => {
  const answers = [undefined, false, "found"];
  expect(await until("a word", () => answers.shift(), { everyMs: 1 })).toBe("found");
  expect(answers).toEqual([]);
});

it("says what did not come, and what helps to see why", async () => {
  const waiting = until("rain", () => false, { limitMs: 5, everyMs: 1, explain: async () => "the sky is clear" });
  await expect(waiting).rejects.toThrow("not within 0.005 s: rain\nthe sky is clear");
});

it("does not wait on when the question itself fails", async () => {
  await expect(until("an answer", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});
