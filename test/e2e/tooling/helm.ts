import { join } from "node:path";
import { expect, it } from "vitest";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import type { Tool } from "./tools.ts";
import { exitsWith, runsFor, User } from "./user.ts";

const chart = join(import.meta.dirname, "chart");
const install = (...flags: string[]): string[] => ["install", "release", chart, "--timeout", "90s", ...flags];
const podLooks = (annotations: Record<string, string>): string[] => [
  "--set-json",
  `pod=${JSON.stringify(annotations)}`,
];

/** Helm waits for hook Jobs always, and for others when asked. */
export function helmTests(fleet: RealFleet, helm: Tool): void {
  it.concurrent("helm install --wait --wait-for-jobs returns when hook and Job are done", async ({ skip }) => {
    if (helm.missing !== undefined) skip(helm.missing);
    const user = await User.on(fleet, "helm-good");
    await user.ok(helm, install("--wait", "--wait-for-jobs", ...podLooks(runsFor("2s"))));
    const job = await user.at.job("release");
    expect(job?.status).toMatchObject({ succeeded: 1 });
    expect(await user.ok(helm, ["status", "release"])).toMatch(/STATUS: deployed/);
    await user.at.untilGone("release-migrate");
    await user.ok(helm, ["uninstall", "release", "--wait", "--timeout", "90s"]);
    expect(await user.at.job("release")).toBeUndefined();
  });

  it.concurrent("helm install --wait --wait-for-jobs fails when the Job fails", async ({ skip }) => {
    if (helm.missing !== undefined) skip(helm.missing);
    const user = await User.on(fleet, "helm-bad");
    const { code, stderr } = await user.run(helm, install("--wait", "--wait-for-jobs", ...podLooks(exitsWith(1))));
    expect(stderr).toMatch(/release.*(failed|Failed)/s);
    expect(code).toBe(1);
  });
}
