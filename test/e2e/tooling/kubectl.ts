import { expect, it } from "vitest";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { exitsWith, jobManifest, runsFor, User } from "./user.ts";

/** kubectl, as it is. */
export function kubectlTests(fleet: RealFleet): void {
  it.concurrent("kubectl get -w shows it running and complete; wait and describe agree", async () => {
    const user = await User.on(fleet, "kubectl-complete");
    const running = Promise.withResolvers<void>();
    const watched = user.kubectlUntil(/Complete\s+2\/2/, ["get", "jobs", "-w"], (line) => {
      if (/Running +0\/2/.test(line)) running.resolve();
    });
    watched.catch(running.reject);
    await user.create(jobManifest("pi", { spec: { completions: 2, parallelism: 2 }, pod: runsFor("forever") }));
    await running.promise;
    for (let pods = 0; pods < 2; pods++) await user.at.end("pi", 0);
    expect(await user.kubectl("wait", "--for=condition=complete", "job/pi", "--timeout=90s")).toMatchObject({
      code: 0,
      stdout: "job.batch/pi condition met\n",
    });
    expect((await watched).join("\n")).toMatch(/^NAME +STATUS +COMPLETIONS +DURATION +AGE\n(pi +Running +0\/2.*\n)+/);
    let stdout = "";
    await user.at.until("describe shows where it went", async () => {
      ({ stdout } = await user.kubectl("describe", "job", "pi"));
      return /Normal +Dispatched .* Dispatched to cluster (east|west)/.test(stdout);
    });
    expect(stdout).toMatch(/Pods Statuses: +0 Active \(0 Ready\) \/ 2 Succeeded \/ 0 Failed/);
    expect(stdout).toMatch(/Start Time:.*\nCompleted At:.*\nDuration:/);
    expect(stdout).toMatch(/jobferry\.dev\/cluster: (east|west)/);
  });

  it.concurrent("kubectl wait returns for a failure, and describe says why", async () => {
    const user = await User.on(fleet, "kubectl-failed");
    await user.create(jobManifest("bad", { spec: { backoffLimit: 0 }, pod: exitsWith(3) }));
    expect(await user.kubectl("wait", "--for=condition=failed", "job/bad", "--timeout=90s")).toMatchObject({ code: 0 });
    expect((await user.kubectl("get", "job", "bad", "--no-headers")).stdout).toMatch(/^bad +Failed +0\/1 /);
    const warning = /Warning +BackoffLimitExceeded .* \[(east|west)\] .*Job has reached the specified backoff limit/;
    await user.at.until("the worker's warning is there", async () =>
      warning.test((await user.kubectl("describe", "job", "bad")).stdout),
    );
  });

  it.concurrent("kubectl delete --wait returns when the worker's pods are gone too", async () => {
    const user = await User.on(fleet, "kubectl-delete");
    await user.create(jobManifest("long", { pod: runsFor("forever") }));
    const active = ["wait", "--for=jsonpath={.status.active}=1", "job/long", "--timeout=90s"];
    expect(await user.kubectl(...active)).toMatchObject({ code: 0 });
    expect(await user.at.pods("long")).toHaveLength(1);
    expect(await user.kubectl("delete", "job", "long", "--wait", "--timeout=90s")).toMatchObject({ code: 0 });
    expect(await user.kubectl("get", "job", "long")).toMatchObject({ stderr: expect.stringContaining("NotFound") });
    expect(await user.at.pods("long")).toEqual([]);
  });

  it.concurrent("kubectl suspends, resumes and scales it by edits", async () => {
    const user = await User.on(fleet, "kubectl-edit");
    await user.create(jobManifest("edited", { spec: { suspend: true }, pod: runsFor("forever") }));
    const patch = (spec: object) => user.kubectl("patch", "job", "edited", "-p", JSON.stringify({ spec }));
    const wait = async (what: string) =>
      expect(await user.kubectl("wait", `--for=${what}`, "job/edited", "--timeout=90s")).toMatchObject({ code: 0 });
    await wait("condition=suspended");
    await patch({ suspend: false, parallelism: 2, completions: undefined });
    await wait("jsonpath={.status.active}=1");
    await patch({ suspend: true });
    await wait("condition=suspended");
    expect((await user.kubectl("get", "job", "edited", "--no-headers")).stdout).toMatch(/^edited +Suspended +0\/1 /);
  });

  // The documentation says where to look instead.
  it.concurrent("kubectl logs finds no pod on the hub, and says so after its time", async () => {
    const user = await User.on(fleet, "kubectl-logs");
    await user.create(jobManifest("quiet"));
    await user.kubectl("wait", "--for=condition=complete", "job/quiet", "--timeout=90s");
    expect(await user.kubectl("logs", "job/quiet", "--pod-running-timeout=1s")).toMatchObject({
      code: 1,
      stderr: "error: timed out waiting for the condition\n",
    });
    expect((await user.kubectl("get", "pods")).stderr).toMatch(/^No resources found/);
  });
}
