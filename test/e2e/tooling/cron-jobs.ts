import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { jobManifest, runsFor, User } from "./user.ts";

const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Math.floor(Date.now() / DAY_MS - days) * DAY_MS);

/** At midnight of that day of the year. */
const onlyOn = (day: Date): string => `0 0 ${day.getUTCDate()} ${day.getUTCMonth() + 1} *`;
const DAILY = "0 0 * * *";

/** CronJobs, run by the hub's own controller. */
export function cronJobTests(fleet: RealFleet): void {
  const listed = async (user: User): Promise<Job[]> =>
    (await fleet.hub.api.list(jobs, { namespace: user.at.name })).items;

  async function cronJob(user: User, schedule: string, spec: object, pod = runsFor("forever")): Promise<void> {
    const { spec: template } = jobManifest("", { pod });
    await user.create({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "tick" },
      spec: { schedule, ...spec, jobTemplate: { spec: template } },
    });
  }

  /** Has the controller believe that its last run was that day, so that it catches up with the last one it missed. */
  async function catchUp(user: User, lastRun: Date): Promise<void> {
    const status = JSON.stringify({ status: { lastScheduleTime: lastRun.toISOString() } });
    const patch = [
      "patch",
      "cronjob",
      "tick",
      "-n",
      user.at.name,
      "--subresource=status",
      "--type=merge",
      "-p",
      status,
    ];
    const { code, stderr } = await fleet.hub.kubectl(...patch);
    if (code !== 0) throw new Error(stderr);
  }

  const running = async (user: User): Promise<Job[]> =>
    (await listed(user)).filter((job) => job.status?.active === 1 && job.metadata.deletionTimestamp === undefined);

  it.concurrent("a CronJob with concurrencyPolicy Forbid waits for the dispatched run", async () => {
    const user = await User.on(fleet, "cron-forbid");
    await cronJob(user, onlyOn(daysAgo(3)), { concurrencyPolicy: "Forbid" });
    await catchUp(user, daysAgo(4));
    await user.at.until("the first run is active", async () => (await running(user)).length === 1);
    await user.kubectl("patch", "cronjob", "tick", "-p", JSON.stringify({ spec: { schedule: DAILY } }));
    await catchUp(user, daysAgo(2));
    await user.at.until("the second is refused", async () =>
      /JobAlreadyActive/.test((await user.kubectl("describe", "cronjob", "tick")).stdout),
    );
    expect(await listed(user)).toHaveLength(1);
  });

  it.concurrent("a CronJob with concurrencyPolicy Replace replaces the dispatched run", async () => {
    const user = await User.on(fleet, "cron-replace");
    await cronJob(user, onlyOn(daysAgo(3)), { concurrencyPolicy: "Replace" });
    await catchUp(user, daysAgo(4));
    await user.at.until("the first run is active", async () => (await running(user)).length === 1);
    const first = (await listed(user))[0]?.metadata.name ?? "";
    await user.kubectl("patch", "cronjob", "tick", "-p", JSON.stringify({ spec: { schedule: DAILY } }));
    await catchUp(user, daysAgo(2));
    await user.at.until("only the second run is active", async () => {
      const [only, ...others] = await listed(user);
      return others.length === 0 && only?.metadata.name !== first && only?.status?.active === 1;
    });
    expect(await user.at.pods(first)).toEqual([]);
  });

  it.concurrent("a CronJob keeps as many dispatched runs as its history limits say", async () => {
    const user = await User.on(fleet, "cron-history");
    await cronJob(user, DAILY, { successfulJobsHistoryLimit: 1 }, runsFor("0s"));
    for (const name of ["one", "two", "three"]) {
      expect(await user.kubectl("create", "job", name, "--from=cronjob/tick")).toMatchObject({ code: 0 });
      await user.kubectl("wait", "--for=condition=complete", `job/${name}`, "--timeout=90s");
    }
    await user.at.until("one run is left", async () => (await listed(user)).length === 1);
    const [left] = await listed(user);
    expect(left === undefined ? undefined : isFinished(left)).toBe(true);
  });
}
