/** `--controller=builtin`: the worker's own Job controller runs the mirrors, and the hub sees the same. */
import { workerClusters } from "@jobferry/shared/kube/fleet-resources.ts";
import { CLUSTER, EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet({ agentFlags: ["--controller", "builtin"], workerControllers: ["job-controller"] });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

const conditions = (job: Awaited<ReturnType<RealFleet["job"]>>) =>
  job?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
const forever = { "instant-pods/run": "forever" };

it("A.1 A.2 Complete and Failed are mirrored", async () => {
  await fleet.submit("pi", { pod: { "instant-pods/run": "5s" } });
  await fleet.submit("bad", { spec: { backoffLimit: 0 }, pod: { "instant-pods/exit-code": "3" } });
  await fleet.untilActive("pi", 1);
  expect((await fleet.mirror("pi")).mirror?.spec.managedBy).toBeUndefined();
  const complete = await fleet.untilFinished("pi");
  expect(conditions(complete)?.at(-1)).toBe("Complete=True/CompletionsReached");
  expect(complete.metadata.finalizers ?? []).toEqual([]);
  expect(conditions(await fleet.untilFinished("bad"))?.at(-1)).toBe("Failed=True/BackoffLimitExceeded");
});

it("A.5 suspended while it runs and resumed", async () => {
  await fleet.submit("s", { pod: forever });
  await fleet.untilActive("s", 1);
  await fleet.edit("s", { spec: { suspend: true } });
  await fleet.until("stopped", async () => conditions(await fleet.job("s"))?.[0] === "Suspended=True/JobSuspended");
  await fleet.edit("s", { spec: { suspend: false } });
  await fleet.untilActive("s", 1);
});

it("A.7 kubectl delete --wait returns when the pods are gone", async () => {
  await fleet.submit("d", { pod: forever });
  await fleet.untilActive("d", 1);
  const { cluster } = await fleet.mirror("d");
  const before = await fleet.podsOn(cluster);
  expect(await fleet.hub.kubectl("delete", "job", "d", "--wait", "--timeout=80s")).toMatchObject({ code: 0 });
  expect(await fleet.podsOn(cluster)).toBe(before - 1);
});

it("A.12 a drained cluster hands its Job over with the completed indexes", async () => {
  const spec = { completionMode: "Indexed", completions: 3, parallelism: 1 } as const;
  await fleet.submit("h", { spec, pod: { "instant-pods/run": "4s" } });
  await fleet.until("index 0 is done", async () => (await fleet.job("h"))?.status?.completedIndexes === "0");
  const from = (await fleet.mirror("h")).cluster;
  await fleet.hub.api.patch(workerClusters, { name: from }, { type: "merge", body: { spec: { drain: true } } });
  const finished = await fleet.untilFinished("h");
  expect(finished.metadata.annotations?.[CLUSTER]).not.toBe(from);
  expect(finished.metadata.annotations?.[EPOCH]).toBe("2");
  expect(finished.status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  expect(finished.status?.failed ?? 0).toBe(0);
});
