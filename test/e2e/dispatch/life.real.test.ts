/** Section A of the scenarios on real control planes and a real Redis; the numbers in the names are its numbers. */
import { isConflict } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY, MESSAGE, WITHDRAW_FINALIZER } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet();
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

const conditions = (job: Awaited<ReturnType<RealFleet["job"]>>) =>
  job?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
const forever = { "instant-pods/run": "forever" };
const templateOf = () => ({
  template: { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] } },
});
const key = (name: string) => ({ namespace: "default", name });

it("SW-6 a status write stores the annotations and the finalizers that come with it; a stale patch is a conflict", async () => {
  const created = await fleet.hub.api.create(jobs, "default", {
    metadata: { name: "probe", finalizers: [WITHDRAW_FINALIZER, "example.com/keep"] },
    spec: {
      managedBy: "example.com/other",
      ...templateOf(),
    },
  });
  const metadata = { ...created.metadata, finalizers: ["example.com/keep"], annotations: { a: "b" } };
  await fleet.hub.api.replace(jobs, key("probe"), { ...created, metadata }, { subresource: "status" });
  const stored = await fleet.job("probe");
  expect(stored?.metadata).toMatchObject({ finalizers: ["example.com/keep"], annotations: { a: "b" } });
  const { resourceVersion, uid } = created.metadata;
  const stale = { type: "merge", body: { metadata: { resourceVersion, uid, annotations: { a: "c" } } } } as const;
  await expect(fleet.hub.api.patch(jobs, key("probe"), stale)).rejects.toSatisfy(isConflict);
});

it("A.1 a Job runs on a worker, Complete is mirrored, nothing is left there", async () => {
  await fleet.submit("pi", { pod: { "instant-pods/run": "5s" } });
  await fleet.untilActive("pi", 1);
  const { cluster, mirror } = await fleet.mirror("pi");
  expect(mirror).toBeDefined();
  expect((await fleet.job("pi"))?.status?.startTime).toBe(mirror?.status?.startTime);
  const waited = await fleet.hub.kubectl("wait", "--for=condition=complete", "job/pi", "--timeout=60s");
  expect(waited).toMatchObject({ code: 0 });
  const finished = await fleet.job("pi");
  expect(conditions(finished)).toEqual([
    "SuccessCriteriaMet=True/CompletionsReached",
    "Complete=True/CompletionsReached",
  ]);
  expect(finished?.status).toMatchObject({ succeeded: 1, ready: 0, terminating: 0 });
  expect(finished?.status?.completionTime).toBeDefined();
  expect(finished?.metadata.finalizers ?? []).toEqual([]);
  await fleet.until("the worker is empty", async () => {
    const left = (await fleet.mirror("pi")).mirror;
    return left === undefined && (await fleet.podsOn(cluster)) === 0;
  });
  const { stdout } = await fleet.hub.kubectl("describe", "job/pi");
  expect(stdout).toMatch(/Dispatched\s.*Dispatched to cluster (east|west) \(epoch 1\)/);
});

it("A.2 a failure is mirrored with its reason", async () => {
  await fleet.submit("bad", { spec: { backoffLimit: 0 }, pod: { "instant-pods/exit-code": "3" } });
  const failed = await fleet.untilFinished("bad");
  expect(conditions(failed)).toEqual(["FailureTarget=True/BackoffLimitExceeded", "Failed=True/BackoffLimitExceeded"]);
  expect(failed.status?.failed).toBe(1);
});

it("A.3 an Indexed Job shows its indexes", async () => {
  await fleet.submit("indexed", { spec: { completionMode: "Indexed", completions: 5, parallelism: 2 } });
  expect((await fleet.untilFinished("indexed")).status).toMatchObject({ succeeded: 5, completedIndexes: "0-4" });
});

it("A.5 suspended at first, resumed, suspended while it runs, resumed again", async () => {
  await fleet.submit("s", { spec: { suspend: true }, pod: forever });
  await fleet.until("suspended", async () => conditions(await fleet.job("s"))?.[0] === "Suspended=True/JobSuspended");
  expect(await fleet.mirror("s")).toEqual({ cluster: "", mirror: undefined });
  await fleet.edit("s", { spec: { suspend: false } });
  await fleet.untilActive("s", 1);
  const first = (await fleet.mirror("s")).cluster;
  await fleet.edit("s", { spec: { suspend: true } });
  await fleet.until("stopped", async () => conditions(await fleet.job("s"))?.[0] === "Suspended=True/JobSuspended");
  expect((await fleet.job("s"))?.status?.startTime).toBeUndefined();
  await fleet.edit("s", { spec: { suspend: false } });
  await fleet.untilActive("s", 1);
  expect((await fleet.mirror("s")).cluster).toBe(first);
  expect(conditions(await fleet.job("s"))).toEqual(["Suspended=False/JobResumed"]);
});

it.each(["background", "foreground", "orphan"])("A.7 deleted with %s propagation while it runs", async (cascade) => {
  const name = `d-${cascade}`;
  await fleet.submit(name, { pod: forever });
  await fleet.untilActive(name, 1);
  const { cluster } = await fleet.mirror(name);
  const before = await fleet.podsOn(cluster);
  const deleted = await fleet.hub.kubectl("delete", "job", name, "--wait", `--cascade=${cascade}`, "--timeout=80s");
  expect(deleted).toMatchObject({ code: 0 });
  expect(await fleet.job(name)).toBeUndefined();
  expect(await fleet.podsOn(cluster)).toBe(cascade === "orphan" ? before : before - 1);
});

it("claims the Jobs of a labelled namespace without a change to them", async () => {
  await fleet.hub.kubectl("create", "namespace", "labelled");
  await fleet.hub.kubectl("label", "namespace", "labelled", "jobferry.dev/dispatch=enabled");
  for (const worker of fleet.workers.values()) await worker.kubectl("create", "namespace", "labelled");
  const managedBy = async (): Promise<string> => {
    const made = await fleet.hub.kubectl("create", "job", "plain", "--image=none", "-n", "labelled");
    if (made.code !== 0) throw new Error(made.stderr);
    const { spec } = await fleet.hub.api.get(jobs, { namespace: "labelled", name: "plain" });
    return spec.managedBy ?? "";
  };
  expect(await managedBy()).toBe(HUB_MANAGED_BY);
  const args = ["--for=condition=complete", "job/plain", "-n", "labelled", "--timeout=80s"];
  expect(await fleet.hub.kubectl("wait", ...args)).toMatchObject({ code: 0 });
});

it("A.4 A.11 each run of a CronJob is dispatched, and a time to live on the hub removes it", async () => {
  const jobTemplate = { spec: { managedBy: HUB_MANAGED_BY, ttlSecondsAfterFinished: 1, ...templateOf() } };
  const cron = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick" },
    spec: { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate },
  };
  expect(await fleet.hub.kubectlWith(JSON.stringify(cron), "apply", "-f", "-")).toMatchObject({ code: 0 });
  await fleet.until("a run is complete", async () => {
    const { stdout } = await fleet.hub.kubectl("get", "cronjob", "tick", "-o", "jsonpath={.status.lastSuccessfulTime}");
    return stdout !== "";
  });
  await fleet.hub.kubectl("patch", "cronjob", "tick", "-p", '{"spec":{"suspend":true}}');
  await fleet.until("its Job is gone", async () => {
    const { items } = await fleet.hub.api.list(jobs, { namespace: "default" });
    return !items.some(({ metadata }) => metadata.name?.startsWith("tick-"));
  });
});

it("A.6 parallelism and an elastic Indexed Job follow the hub while they run", async () => {
  const spec = { completionMode: "Indexed", completions: 2, parallelism: 2 } as const;
  await fleet.submit("elastic", { spec, pod: forever });
  await fleet.untilActive("elastic", 2);
  await fleet.edit("elastic", { spec: { completions: 3, parallelism: 3 } });
  await fleet.untilActive("elastic", 3);
  await fleet.edit("elastic", { spec: { completions: 1, parallelism: 1 } });
  await fleet.untilActive("elastic", 1);
});

it("A.8 deleted and created again under the same name: the new Job runs, the old status never shows", async () => {
  await fleet.submit("again", { pod: forever });
  await fleet.untilActive("again", 1);
  await fleet.hub.kubectl("delete", "job", "again", "--wait", "--timeout=80s");
  const second = await fleet.submit("again", { spec: { backoffLimit: 1 } });
  const finished = await fleet.untilFinished("again");
  expect(finished.metadata.uid).toBe(second.metadata.uid);
  expect(finished.status).toMatchObject({ succeeded: 1 });
});

it("A.9 a worker's own Job of the same name is reported, and not touched", async () => {
  const local = { metadata: { name: "taken" }, spec: { managedBy: "example.com/other", ...templateOf() } };
  const before = [];
  for (const worker of fleet.workers.values()) before.push(await worker.api.create(jobs, "default", local));
  await fleet.submit("taken");
  const message = async () => (await fleet.job("taken"))?.metadata.annotations?.[MESSAGE] ?? "";
  await fleet.until("both refused", async () => /east, west: refused it: NameTaken/.test(await message()));
  const after = [...fleet.workers.values()].map((worker) => worker.api.get(jobs, key("taken")));
  expect((await Promise.all(after)).map(({ metadata }) => metadata.resourceVersion)).toEqual(
    before.map(({ metadata }) => metadata.resourceVersion),
  );
});

it("A.14 long names and names with dots", async () => {
  const names = ["a".repeat(63), "with.dots"];
  for (const name of names) await fleet.submit(name);
  for (const name of names) expect((await fleet.untilFinished(name)).status?.succeeded).toBe(1);
});

it("A.12 jobferry cluster shows, cordons and drains", async () => {
  const cluster = async (...args: string[]) =>
    JSON.parse(
      await fleet.jobferry("cluster", ...args, "--kubeconfig", fleet.hub.kubeconfigPath, "--output", "json"),
    ) as { name: string; connected: string; cordoned: boolean; draining: boolean }[];
  expect(await cluster("list")).toMatchObject([
    { name: "east", connected: "True", cordoned: false },
    { name: "west", connected: "True", cordoned: false },
  ]);
  expect(await cluster("cordon", "east")).toMatchObject([{ name: "east", cordoned: true, draining: false }]);
  await fleet.submit("moving", { pod: forever });
  await fleet.untilActive("moving", 1);
  expect((await fleet.mirror("moving")).cluster).toBe("west");
  await cluster("uncordon", "east");
  expect(await cluster("drain", "west")).toMatchObject([{ name: "west", cordoned: true, draining: true }]);
  await fleet.until("moved", async () => (await fleet.mirror("moving")).cluster === "east");
  await fleet.untilActive("moving", 1);
  await cluster("uncordon", "west");
});

it("needed nothing that the deployed rights and ACL rules do not give", async () => {
  for (const name of ["manager", "east", "west"]) expect(await fleet.log(name)).not.toMatch(/forbidden|NOPERM/i);
  expect(await fleet.denied()).toBe("[]");
});
