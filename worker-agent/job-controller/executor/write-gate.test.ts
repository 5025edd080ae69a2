import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { slowStart } from "./slow-start.ts";
import { ShuttingDown, WriteGate } from "./write-gate.ts";

function setup(options: { inFlight?: number; rate?: { perSecond: number; burst: number } } = {}) {
  const clock = new VirtualClock();
  const gate = new WriteGate({ clock, inFlight: 1, ...options });
  const order: string[] = [];
  const finish: (() => void)[] = [];
  const write = (kind: "create" | "pod" | "status", name: string = kind) =>
    gate.run(kind, () => {
      order.push(name);
      return new Promise<void>((resolve) => finish.push(resolve));
    });
  return { clock, gate, order, write, finishNext: () => finish.shift()?.() };
}

describe("WriteGate", () => {
  it("lets pod creation go before pod changes, and those before status", async () => {
    const { clock, order, write, finishNext } = setup();
    const all = [write("status", "first"), write("status"), write("pod"), write("create")];
    for (let turn = 0; turn < 4; turn++) {
      await clock.settle();
      finishNext();
    }
    await Promise.all(all);
    expect(order).toEqual(["first", "create", "pod", "status"]);
  });

  it("bounds what is under way", async () => {
    const { clock, order, write } = setup({ inFlight: 2 });
    for (const name of ["a", "b", "c"]) void write("pod", name);
    await clock.settle();
    expect(order).toEqual(["a", "b"]);
  });

  it("bounds the rate after the burst", async () => {
    const { clock, order, write } = setup({ inFlight: 99, rate: { perSecond: 10, burst: 2 } });
    for (let count = 0; count < 5; count++) void write("create", String(count));
    await clock.advance(0);
    expect(order).toHaveLength(2);
    await clock.advance(200);
    expect(order).toHaveLength(4);
  });

  it("refuses what waits when it closes, and lets the rest finish", async () => {
    const { clock, gate, write, finishNext } = setup();
    const running = write("pod");
    const waiting = write("pod");
    await clock.settle();
    gate.close();
    await expect(waiting).rejects.toBeInstanceOf(ShuttingDown);
    await expect(write("create")).rejects.toBeInstanceOf(ShuttingDown);
    finishNext();
    await expect(running).resolves.toBeUndefined();
  });

  it("goes on after a write failed", async () => {
    const { gate } = setup();
    await expect(gate.run("pod", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(gate.run("pod", () => Promise.resolve(7))).resolves.toBe(7);
  });
});

describe("slowStart", () => {
  const items = Array.from({ length: 100 }, (_, position) => position);

  it("SX-3 doubles the batches", async () => {
    const batches: number[] = [];
    let open = 0;
    await slowStart(items, async () => {
      open++;
      await Promise.resolve();
      if (open > 0) batches.push(open);
      open = 0;
      return "done";
    });
    expect(batches).toEqual([1, 2, 4, 8, 16, 32, 37]);
  });

  it("SX-4, SX-10 stops after the batch with a failure", async () => {
    let calls = 0;
    const result = await slowStart(items, () => Promise.resolve(++calls > 10 ? "failed" : "done"));
    expect(calls).toBe(15);
    expect(result).toEqual({ failed: 5, skipped: 85 });
  });

  it("SX-4 tries everything when nothing fails", async () =>
    expect(await slowStart(items, () => Promise.resolve("done"))).toEqual({ failed: 0, skipped: 0 }));
});
