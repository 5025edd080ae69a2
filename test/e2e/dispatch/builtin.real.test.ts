/** `--controller=builtin`: the worker's own Job controller runs the mirrors, and section A holds as before. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { changes } from "./changes.ts";
import { forever } from "./fleet-namespace.ts";
import { mirrors } from "./mirrors.ts";
import { moving } from "./moving.ts";
import { neighbours, ownJobs } from "./neighbours.ts";
import { outcomes } from "./outcomes.ts";
import { RealFleet } from "./real-fleet.ts";
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

outcomes(fleet);
changes(fleet);
removal(fleet);
neighbours(fleet);
ownJobs(fleet);
refusals(fleet);
mirrors(fleet);
moving(fleet);
withoutManagedBy(fleet, "run");
