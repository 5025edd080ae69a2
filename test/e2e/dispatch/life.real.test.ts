/** Section A of the scenarios on real control planes and a real Redis; the numbers in the names are its numbers. */
import { isConflict } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY, WITHDRAW_FINALIZER } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changes } from "./changes.ts";
import { mirrors } from "./mirrors.ts";
import { moving } from "./moving.ts";
import { neighbours, ownJobs } from "./neighbours.ts";
import { outcomes } from "./outcomes.ts";
import { RealFleet } from "./real-fleet.ts";
import { apiServer, mendedRefusals, prepareRefusals, refusals, withoutManagedBy } from "./refusals.ts";
import { removal } from "./removal.ts";
import { warnings } from "./warnings.ts";

const fleet = new RealFleet({
  workerControllers: ["job-controller"],
  workerApiServer: apiServer,
  serviceAccounts: true,
});
beforeAll(async () => {
  await fleet.start();
  await prepareRefusals(fleet);
}, 300_000);
afterAll(() => fleet.stop());

const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "none" }] } };

it.concurrent("A.4 A.11 each run of a CronJob is dispatched, and a time to live on the hub removes it", async () => {
  const at = await fleet.namespace("cron");
  const jobTemplate = { spec: { managedBy: HUB_MANAGED_BY, ttlSecondsAfterFinished: 1, template } };
  const cron = {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "tick", namespace: at.name },
    spec: { schedule: "* * * * *", concurrencyPolicy: "Forbid", jobTemplate },
  };
  expect(await fleet.hub.kubectlWith(JSON.stringify(cron), "apply", "-f", "-")).toMatchObject({ code: 0 });
  const field = async (path: string): Promise<string> =>
    (await fleet.hub.kubectl("get", "cronjob", "tick", "-n", at.name, "-o", `jsonpath=${path}`)).stdout;
  // As if it had been there a minute ago: the run that was due then starts now.
  const lastScheduleTime = new Date(Date.now() - 61_000).toISOString();
  const due = JSON.stringify({ status: { lastScheduleTime } });
  await fleet.hub.kubectl("patch", "cronjob", "tick", "-n", at.name, "--subresource=status", "--type=merge", "-p", due);
  await at.until("a run is complete", async () => (await field("{.status.lastSuccessfulTime}")) !== "");
  await fleet.hub.kubectl("patch", "cronjob", "tick", "-n", at.name, "-p", '{"spec":{"suspend":true}}');
  await at.until("its Job is gone", async () => {
    return (await fleet.hub.api.list(jobs, { namespace: at.name })).items.length === 0;
  });
});

it.concurrent("A.1 kubectl waits for a Job of the hub, and describes where it went", async () => {
  const at = await fleet.namespace("kubectl");
  await at.submit("pi");
  const wait = ["wait", "--for=condition=complete", "job/pi", "-n", at.name, "--timeout=80s"];
  expect(await fleet.hub.kubectl(...wait)).toMatchObject({ code: 0 });
  const dispatched = new RegExp(`Dispatched\\s.*Dispatched to cluster ${await at.cluster("pi")} \\(epoch 1\\)`);
  await at.until("describe shows where it went", async () =>
    dispatched.test((await fleet.hub.kubectl("describe", "job/pi", "-n", at.name)).stdout),
  );
});

outcomes(fleet);
changes(fleet);
removal(fleet);
neighbours(fleet);
ownJobs(fleet);
refusals(fleet);
mendedRefusals(fleet);
warnings(fleet);
mirrors(fleet);

it.concurrent("SW-6 a status write stores the metadata that comes with it; a stale patch is a conflict", async () => {
  const at = await fleet.namespace("probe");
  const key = { namespace: at.name, name: "probe" };
  const created = await fleet.hub.api.create(jobs, at.name, {
    metadata: { name: "probe", finalizers: [WITHDRAW_FINALIZER, "example.com/keep"] },
    spec: { managedBy: "example.com/other", template },
  });
  const metadata = { ...created.metadata, finalizers: ["example.com/keep"], annotations: { a: "b" } };
  await fleet.hub.api.replace(jobs, key, { ...created, metadata }, { subresource: "status" });
  expect((await at.job("probe"))?.metadata).toMatchObject({
    finalizers: ["example.com/keep"],
    annotations: { a: "b" },
  });
  const { resourceVersion, uid } = created.metadata;
  const stale = { type: "merge", body: { metadata: { resourceVersion, uid, annotations: { a: "c" } } } } as const;
  await expect(fleet.hub.api.patch(jobs, key, stale)).rejects.toSatisfy(isConflict);
});

it.concurrent("claims the Jobs of a labelled namespace without a change to them", async () => {
  const at = await fleet.namespace("labelled");
  await fleet.hub.kubectl("label", "namespace", at.name, "jobferry.dev/dispatch=enabled");
  await at.until("claimed", async () => {
    const made = await fleet.hub.kubectl("create", "job", "plain", "--image=none", "-n", at.name);
    if (made.code !== 0) throw new Error(made.stderr);
    const isClaimed = (await at.job("plain"))?.spec.managedBy === HUB_MANAGED_BY;
    // The policy follows the namespace's label with a small delay.
    if (!isClaimed) await fleet.hub.kubectl("delete", "job", "plain", "-n", at.name);
    return isClaimed;
  });
  expect((await at.untilFinished("plain")).status?.succeeded).toBe(1);
});

moving(fleet);

it("needed nothing that the deployed rights and ACL rules do not give", async () => {
  for (const name of ["manager", "east", "west"])
    expect(await fleet.log(name)).not.toMatch(/cannot \w+ resource|NOPERM/i);
  expect(await fleet.denied()).toBe("[]");
});

withoutManagedBy(fleet, "refused");
