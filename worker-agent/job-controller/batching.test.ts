import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Batching, UnfinishedPods } from "./batching.ts";

function setup(batchMs = 1000) {
  const clock = new VirtualClock();
  const added: string[] = [];
  const times: number[] = [];
  const batching = new Batching({
    clock,
    batchMs,
    add: (key) => {
      added.push(key);
      times.push(clock.monotonic());
    },
  });
  return { clock, batching, added, times };
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
    batching.syncBegins("a");
    await clock.advance(5000);
    expect(added).toEqual(["b"]);
  });

  it("K-1 what happens during a sync is gathered from its end on", async () => {
    const { clock, batching, times } = setup();
    batching.syncBegins("a");
    batching.batched("a");
    await clock.advance(1500);
    expect(times).toEqual([]);
    batching.syncEnds("a");
    await clock.advance(5000);
    expect(times).toEqual([2500]);
  });

  it("what must be synced at once waits for no batch, and ends it", async () => {
    const { clock, batching, times } = setup();
    batching.syncBegins("a");
    batching.batched("a");
    batching.now("a");
    batching.syncEnds("a");
    batching.syncBegins("a");
    batching.syncEnds("a");
    await clock.advance(5000);
    expect(times).toEqual([0]);
  });

  it("adds nothing after it stopped", async () => {
    const { clock, batching, added } = setup();
    batching.batched("a");
    batching.stop();
    await clock.advance(5000);
    expect(added).toEqual([]);
  });
});

describe("a pod that ended", () => {
  interface Case {
    batchMs?: number;
    /** Milliseconds since the last sync; never synced unless given. */
    syncedAgo?: number;
    /** Milliseconds since another change opened the batch. */
    openSince?: number;
    capMs?: number;
    wantMs: number;
  }

  it.each<[string, Case]>([
    ["settles first in a Job that was never synced", { wantMs: 50 }],
    ["settles first in a Job that has been quiet", { syncedAgo: 5000, wantMs: 50 }],
    ["waits for the batch in a busy Job", { syncedAgo: 4999, wantMs: 1000 }],
    ["brings the end of an open batch forward", { openSince: 300, wantMs: 50 }],
    ["does not put the end of an open batch off", { openSince: 980, wantMs: 20 }],
    ["waits no longer than its Job asks for", { syncedAgo: 10, capMs: 200, wantMs: 200 }],
    ["waits no longer than the batch, whatever its Job asks for", { syncedAgo: 10, capMs: 1001, wantMs: 1000 }],
    ["brings a batch forward to what its Job asks for", { syncedAgo: 600, openSince: 500, capMs: 200, wantMs: 200 }],
    ["is as quick in a quiet Job that asks for less", { capMs: 200, wantMs: 50 }],
    ["is as quick as the batch when that is shorter", { batchMs: 20, wantMs: 20 }],
    ["changes nothing without batches", { batchMs: 0, syncedAgo: 10, capMs: 200, wantMs: 0 }],
  ])("%s", async (_, { batchMs = 1000, syncedAgo, openSince, capMs, wantMs }) => {
    const at = setup(batchMs);
    await at.clock.advance(60_000);
    if (syncedAgo !== undefined) {
      at.batching.syncBegins("a");
      at.batching.syncEnds("a");
      await at.clock.advance(syncedAgo - (openSince ?? 0));
    }
    if (openSince !== undefined) {
      at.batching.batched("a");
      await at.clock.advance(openSince);
    }
    const ended = at.clock.monotonic();
    at.batching.podEnded("a", capMs);
    await at.clock.advance(5000);
    expect(at.times).toEqual([ended + wantMs]);
  });

  it("shares the sync with those that end within the settle time", async () => {
    const { clock, batching, added } = setup();
    batching.podEnded("a");
    await clock.advance(49);
    batching.podEnded("a");
    await clock.advance(1);
    expect(added).toEqual(["a"]);
    await clock.advance(5000);
    expect(added).toEqual(["a"]);
  });

  it("a sync of one Job leaves the others quiet", async () => {
    const { clock, batching, added } = setup();
    batching.syncBegins("b");
    batching.podEnded("a");
    await clock.advance(50);
    expect(added).toEqual(["a"]);
  });
});

it("K-1 pods that keep ending cost at most one sync more than plain batches would", () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 1, maxLength: 40 }), async (gaps) => {
      const adaptive = await syncsOf(gaps, (batching) => batching.podEnded("a"));
      const plain = await syncsOf(gaps, (batching) => batching.batched("a"));
      expect(adaptive).toBeLessThanOrEqual(plain + 1);
    }),
  ));

/** How many syncs pods cause that end with these gaps between them. */
async function syncsOf(gaps: readonly number[], ended: (batching: Batching) => void): Promise<number> {
  const clock = new VirtualClock();
  let syncs = 0;
  const batching = new Batching({
    clock,
    batchMs: 1000,
    add: (key) => {
      syncs++;
      batching.syncBegins(key);
      batching.syncEnds(key);
    },
  });
  for (const gap of gaps) {
    ended(batching);
    await clock.advance(gap);
  }
  await clock.advance(1000);
  return syncs;
}

it("UnfinishedPods counts per owner", () => {
  const unfinished = new UnfinishedPods();
  unfinished.change("a", 1);
  unfinished.change("a", 1);
  unfinished.change("b", 1);
  unfinished.change(undefined, 1);
  unfinished.change("a", -1);
  expect([unfinished.count("a"), unfinished.count("b"), unfinished.count("c")]).toEqual([1, 1, 0]);
});
