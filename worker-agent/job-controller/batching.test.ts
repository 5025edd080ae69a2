import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { Batching, UnfinishedPods } from "./batching.ts";

function setup() {
  const clock = new VirtualClock();
  const added: string[] = [];
  const batching = new Batching({ clock, batchMs: 1000, add: (key) => added.push(key) });
  return { clock, batching, added };
}

describe("Batching", () => {
  it("K-1 gathers changes from the first on", async () => {
    const { clock, batching, added } = setup();
    batching.batched("a");
    await clock.advance(900);
    batching.batched("a");
    expect(added).toEqual([]);
    await clock.advance(100);
    expect(added).toEqual(["a"]);
    await clock.advance(5000);
    expect(added).toEqual(["a"]);
  });

  it("an immediate sync ends the batch", async () => {
    const { clock, batching, added } = setup();
    batching.batched("a");
    batching.now("a");
    await clock.advance(5000);
    expect(added).toEqual(["a"]);
  });

  it("a sync that starts for another reason ends the batch of its own key only", async () => {
    const { clock, batching, added } = setup();
    batching.batched("a");
    batching.batched("b");
    batching.close("a");
    await clock.advance(5000);
    expect(added).toEqual(["b"]);
  });

  it("adds nothing after it stopped", async () => {
    const { clock, batching, added } = setup();
    batching.batched("a");
    batching.stop();
    await clock.advance(5000);
    expect(added).toEqual([]);
  });
});

it("UnfinishedPods counts per owner", () => {
  const unfinished = new UnfinishedPods();
  unfinished.change("a", 1);
  unfinished.change("a", 1);
  unfinished.change("b", 1);
  unfinished.change(undefined, 1);
  unfinished.change("a", -1);
  expect([unfinished.count("a"), unfinished.count("b"), unfinished.count("c")]).toEqual([1, 1, 0]);
});
