import { MessageChannel } from "node:worker_threads";
import { afterEach, expect, it } from "vitest";
import { CallError, Calls } from "./calls.ts";

const { port1, port2 } = new MessageChannel();
afterEach(() => port1.close());

it("both sides ask and are answered, and errors keep their message and code", async () => {
  const one = new Calls(port1, { add: ([a, b]: [number, number]) => a + b });
  const other = new Calls(port2, {
    late: async (text: string) => `${text}!`,
    fail: () => {
      throw Object.assign(new Error("no such pod"), { code: 404 });
    },
  });
  expect(await Promise.all([other.call("add", [1, 2]), one.call("late", "hi"), other.call("add", [3, 4])])).toEqual([
    3,
    "hi!",
    7,
  ]);
  await expect(one.call("fail")).rejects.toEqual(new CallError("no such pod", 404));
});
