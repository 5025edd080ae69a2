import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import type { ForgeableFleet } from "./fleet.ts";

/** The hub's etcd takes 1,572,864 bytes at most, its API server 262,144 of annotations. */
const LARGE = 1_450_000;
const TOO_LARGE_FOR_A_MESSAGE = 1_560_000;
const ALL_ANNOTATIONS = 262_144;
const NOTE = "note";

const podsWith = (argumentBytes: number) => ({
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none", args: ["x".repeat(argumentBytes)] }] },
});

/** Every second index of this many. */
const everySecond = (count: number): string => Array.from({ length: count / 2 }, (_, index) => 2 * index).join();

export function sizeTests(fleet: () => ForgeableFleet): void {
  const completes = async (name: string) => expect((await fleet().untilFinished(name)).status?.succeeded).toBe(1);
  const neighbourCompletes = async (name: string) => {
    await fleet().submit(name);
    await completes(name);
  };
  const says = (name: string, what: RegExp) =>
    fleet().until(`an event of ${name} says ${what}`, async () =>
      (await fleet().eventsOf(name)).some((text) => what.test(text)),
    );
  const remove = async (name: string) => {
    await fleet().hub.api.delete(jobs, { namespace: "default", name }, { propagationPolicy: "Background" });
  };

  it("of almost 1.5 MiB completes", async () => {
    await fleet().submit("large", { template: podsWith(LARGE) });
    await completes("large");
  });

  it("too large for a message says so, and harms no other", async () => {
    await fleet().submit("too-large", { template: podsWith(TOO_LARGE_FOR_A_MESSAGE) });
    await says("too-large", /^DispatchFailed: waiting: the Job takes 156\d{4} bytes as JSON, .*smaller$/);
    await neighbourCompletes("beside-too-large");
    await fleet().until("the Job says so too", async () =>
      /smaller$/.test((await fleet().job("too-large")).metadata.annotations?.[MESSAGE] ?? ""),
    );
    await remove("too-large");
  });

  it("with 200 KiB of annotations has them on the worker", async () => {
    const metadata = { annotations: { [NOTE]: "x".repeat(200 * 1024) } };
    const template = { ...podsWith(1), metadata: { annotations: { "instant-pods/run": "forever" } } };
    await fleet().submit("annotated", { template }, metadata);
    await fleet().until("it runs", async () => (await fleet().job("annotated")).status?.active === 1);
    expect((await fleet().mirror("annotated"))?.metadata.annotations?.[NOTE]).toHaveLength(200 * 1024);
    await remove("annotated");
  });

  it("with no room left for our annotations says so, and harms no other", async () => {
    const metadata = { annotations: { [NOTE]: "x".repeat(ALL_ANNOTATIONS - NOTE.length) } };
    await fleet().submit("full", {}, metadata);
    await says(
      "full",
      /^DispatchFailed: The hub does not accept the marks of dispatch .* not be more than 262144 bytes/,
    );
    await neighbourCompletes("beside-full");
    await fleet().hub.api.patch(
      jobs,
      { namespace: "default", name: "full" },
      { type: "merge", body: { metadata: { annotations: { [NOTE]: null } } } },
    );
    await completes("full");
  });

  it("with 64 KiB of succeededIndexes is dispatched as it is", async () => {
    const indexes = everySecond(23_600);
    expect(indexes.length).toBeGreaterThan(62_000);
    const successPolicy = { rules: [{ succeededIndexes: indexes, succeededCount: 1 }] };
    const spec = { completionMode: "Indexed" as const, completions: 23_600, parallelism: 1, successPolicy };
    await fleet().submit("policy", { ...spec, template: podsWith(1) });
    const { status } = await fleet().untilFinished("policy");
    expect(status?.conditions?.find(({ type }) => type === "Complete")?.reason).toBe("SuccessPolicy");
  });

  it("with 100,000 indexes shows half of them, one by one, as the worker has them", async () => {
    const completions = 100_000;
    const completedIndexes = everySecond(completions);
    await fleet().submit("indexes", { completionMode: "Indexed", completions, parallelism: 0 });
    await fleet().until(
      "it is on the worker",
      async () => (await fleet().mirror("indexes"))?.status?.startTime !== undefined,
    );
    const body = { status: { succeeded: completions / 2, completedIndexes } };
    const key = { namespace: "default", name: "indexes" };
    await fleet().worker.api.patch(jobs, key, { type: "merge", body }, { subresource: "status" });
    await fleet().until("the hub shows it", async () => (await fleet().job("indexes")).status?.succeeded === 50_000);
    const job = await fleet().job("indexes");
    expect(job.status?.completedIndexes === completedIndexes).toBe(true);
    expect(isFinished(job)).toBe(false);
    await remove("indexes");
  });
}
