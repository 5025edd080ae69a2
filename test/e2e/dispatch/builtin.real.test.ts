/** `--controller=builtin`: the worker's own Job controller runs the mirrors, and section A holds as before. */
import { configMaps } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changes } from "./changes.ts";
import { forever } from "./fleet-namespace.ts";
import { mirrors } from "./mirrors.ts";
import { moving } from "./moving.ts";
import { neighbours, ownJobs } from "./neighbours.ts";
import { outcomes } from "./outcomes.ts";
import { RealFleet } from "./real-fleet.ts";
import { copiesOn } from "./reference-fleet.ts";
import { apiServer, prepareRefusals, refusals, withoutManagedBy } from "./refusals.ts";
import { removal } from "./removal.ts";

const fleet = new RealFleet({
  agentFlags: ["--controller", "builtin"],
  workerControllers: ["job-controller"],
  workerApiServer: apiServer,
  serviceAccounts: true,
});
beforeAll(async () => {
  await fleet.start();
  await prepareRefusals(fleet);
}, 300_000);
afterAll(() => fleet.stop());

it.concurrent("the mirror is an ordinary Job of its cluster", async () => {
  const at = await fleet.namespace("ordinary");
  await at.submit("j", { pod: forever });
  await at.untilActive("j", 1);
  expect((await at.mirror("j")).mirror?.spec.managedBy).toBeUndefined();
});

it.concurrent("what its pods read is there before the cluster's own controller starts them", async () => {
  const at = await fleet.namespace("brought");
  await fleet.hub.api.create(configMaps, at.name, { metadata: { name: "words" }, data: { greeting: "hello" } });
  const container = { name: "main", image: "none", envFrom: [{ configMapRef: { name: "words" } }] };
  await at.submit("j", { pod: { ...forever, spec: { containers: [container] } } });
  await at.untilActive("j", 1);
  const [{ pod, cluster } = { pod: undefined, cluster: "" }] = await at.pods("j");
  const [copy, ...more] = await copiesOn(at, cluster, configMaps);
  expect([copy?.data, more]).toEqual([{ greeting: "hello" }, []]);
  expect(pod?.spec.containers[0]?.envFrom).toEqual([{ configMapRef: { name: copy?.metadata.name } }]);
  const [made, started] = [copy, pod].map((one) => Date.parse(one?.metadata.creationTimestamp ?? ""));
  expect(made, "the copy came first").toBeLessThanOrEqual(started ?? 0);
  // The cluster's own controller says that it was held.
  const conditions = (await at.job("j"))?.status?.conditions ?? [];
  expect(conditions.filter(({ status }) => status === "True")).toEqual([]);
  await at.delete("j");
  await at.untilGone("j");
  await at.until("no copy is left", async () => (await copiesOn(at, cluster, configMaps)).length === 0);
});

outcomes(fleet);
changes(fleet);
removal(fleet);
neighbours(fleet);
ownJobs(fleet);
refusals(fleet);
mirrors(fleet);
moving(fleet);
withoutManagedBy(fleet, "run");
