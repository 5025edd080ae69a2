import { isConflict, isNotFound, isOutcomeUnknown } from "@jobferry/shared/kube/errors.ts";
import { configMaps as maps } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { beforeEach, describe, expect, it } from "vitest";
import { SandboxCluster } from "./cluster.ts";

const at = (name: string) => ({ namespace: "default", name });

let clock: VirtualClock;
let cluster: SandboxCluster;
const create = (name: string, client = "test") =>
  cluster.apiFor(client).create(maps, "default", { metadata: { name } });
const exists = (name: string): Promise<boolean> =>
  cluster.api.get(maps, at(name)).then(
    () => true,
    (error: unknown) => !isNotFound(error),
  );

beforeEach(() => {
  clock = new VirtualClock();
  cluster = new SandboxCluster({ clock, seed: 1 });
});

describe("faults on requests", () => {
  it("strike the n-th matching request of one client, as often as told", async () => {
    cluster.faults.inject({ client: "agent", verb: "create" }, { effect: "fail", code: 409 }, { nth: 2, times: 2 });
    await create("a", "agent");
    await create("other");
    await expect(create("b", "agent")).rejects.toSatisfy(isConflict);
    await expect(create("b", "agent")).rejects.toSatisfy(isConflict);
    await create("b", "agent");
  });

  it("match by resource, subresource, name and any condition", async () => {
    const hits: string[] = [];
    const when = ({ name = "" }: { name?: string | undefined }) => hits.push(name) > 0;
    cluster.faults.inject(
      { resource: "configmaps", subresource: "", namespace: "default", name: "b", when },
      { effect: "drop" },
    );
    await create("a");
    await expect(create("b")).rejects.toSatisfy(isOutcomeUnknown);
    expect(hits).toEqual(["b"]);
  });

  it("carry Retry-After", async () => {
    cluster.faults.inject({ verb: ["get", "create"] }, { effect: "fail", code: 429, retryAfterSeconds: 3 });
    await expect(create("a")).rejects.toMatchObject({ code: 429, reason: "TooManyRequests", retryAfterMs: 3000 });
  });

  it.each([
    ["drop", false],
    ["dropAnswer", true],
    ["applyThenFail", true],
  ] as const)("%s leaves the caller in doubt", async (effect, applied) => {
    cluster.faults.inject({ verb: "create" }, { effect });
    await expect(create("a")).rejects.toSatisfy(isOutcomeUnknown);
    expect(await exists("a")).toBe(applied);
  });

  it("delay on the cluster's clock, up to the deadline of the call", async () => {
    cluster.faults.inject({ verb: "create" }, { effect: "delay", ms: 5000 }, { times: 2 });
    const slow = create("a");
    await clock.advance(4999);
    expect(await exists("a")).toBe(false);
    await clock.advance(1);
    await slow;
    const late = cluster.api.create(maps, "default", { metadata: { name: "b" } }, { timeoutMs: 1000 });
    const outcome = expect(late).rejects.toMatchObject({ code: 0, reason: "Timeout" });
    await clock.advance(1000);
    await outcome;
  });

  it("are withdrawn one by one or all at once", async () => {
    const withdraw = cluster.faults.inject({}, { effect: "drop" }, { times: Number.POSITIVE_INFINITY });
    await expect(create("a")).rejects.toThrow();
    withdraw();
    await create("a");
    cluster.faults.inject({}, { effect: "drop" });
    cluster.faults.clear();
    await create("b");
  });
});

describe("faults on watch events", () => {
  async function watched(count: number): Promise<string[]> {
    const seen: string[] = [];
    for await (const batch of cluster.apiFor("agent").watch(maps, { resourceVersion: "1" })) {
      for (const event of batch) seen.push(event.type === "ADDED" ? (event.object.metadata.name ?? "") : event.type);
      if (seen.length >= count) break;
    }
    return seen;
  }
  const createAll = async (): Promise<void> => {
    for (const name of ["a", "b", "c"]) await create(name);
  };

  it("drop one", async () => {
    cluster.faults.injectWatch({ client: "agent" }, { effect: "dropEvent" }, { nth: 2 });
    await createAll();
    expect(await watched(2)).toEqual(["a", "c"]);
  });

  it("repeat one, by the name of its object", async () => {
    cluster.faults.injectWatch({ name: "b" }, { effect: "duplicateEvent" });
    await createAll();
    expect(await watched(4)).toEqual(["a", "b", "b", "c"]);
  });

  it("cut the stream before one", async () => {
    cluster.faults.injectWatch({ name: "b" }, { effect: "cut" });
    await createAll();
    expect(await watched(3)).toEqual(["a"]);
  });

  it("hold one back, and those behind it", async () => {
    cluster.faults.injectWatch({ name: "b" }, { effect: "delayEvent", ms: 1000 });
    await createAll();
    let seen: string[] | undefined;
    void watched(3).then((names) => {
      seen = names;
    });
    await clock.advance(999);
    expect(seen).toBeUndefined();
    await clock.advance(1);
    await clock.settle();
    expect(seen).toEqual(["a", "b", "c"]);
  });
});

describe("the server as a whole", () => {
  it("serves stale lists until told otherwise", async () => {
    await create("a");
    const { resourceVersion } = (await cluster.api.list(maps)).metadata;
    await create("b");
    const withdraw = cluster.faults.serveStale({ verb: "list" }, resourceVersion);
    expect((await cluster.api.list(maps)).items).toHaveLength(1);
    withdraw();
    expect((await cluster.api.list(maps)).items).toHaveLength(2);
  });

  it("ends watches when they are cut, and lets them resume", async () => {
    await create("a");
    const { resourceVersion } = (await cluster.api.list(maps)).metadata;
    const watch = cluster.api.watch(maps, { resourceVersion })[Symbol.asyncIterator]();
    const step = watch.next();
    await clock.settle();
    cluster.cutWatches();
    expect((await step).done).toBe(true);
    await create("b");
    const again = await cluster.api.watch(maps, { resourceVersion })[Symbol.asyncIterator]().next();
    expect(again.value).toHaveLength(1);
  });

  it("restarts with its objects but without its history", async () => {
    await create("a");
    const restarted = cluster.restart(1000);
    await expect(create("b")).rejects.toMatchObject({ code: 0, reason: "ConnectionFailed" });
    await clock.advance(1000);
    await restarted;
    expect(await exists("a")).toBe(true);
    const watch = cluster.api.watch(maps, { resourceVersion: "2" })[Symbol.asyncIterator]();
    await expect(watch.next()).rejects.toMatchObject({ code: 410 });
  });
});

describe("observers of writes", () => {
  it("see every write before and after it is applied, and no reads or dry runs", async () => {
    const seen: string[] = [];
    const forget = cluster.faults.observeWrites({
      before: async ({ client, verb, name = "" }) => {
        seen.push(`before ${client} ${verb} ${name} ${await exists("a")}`);
      },
      after: async ({ verb }) => {
        seen.push(`after ${verb} ${await exists("a")}`);
      },
    });
    await create("a", "agent");
    await cluster.api.create(maps, "default", { metadata: { name: "dry" } }, { dryRun: true });
    await cluster.api.list(maps);
    await cluster.api.delete(maps, at("a"));
    forget();
    await create("b");
    expect(seen).toEqual([
      "before agent create a false",
      "after create true",
      "before test delete a true",
      "after delete false",
    ]);
  });

  it("can hold a write back for good, as a crash would", async () => {
    cluster.faults.observeWrites({ before: () => new Promise<void>(() => {}) });
    void create("a");
    await clock.settle();
    expect(await exists("a")).toBe(false);
  });
});
