/** A.7 and A.8 while the Job runs: deletion, and another Job under the same name. */

import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import { QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import type { History } from "./history.ts";
import type { RealFleet } from "./real-fleet.ts";

export function removal(fleet: RealFleet): void {
  it.concurrent.each([
    ["background", "default"],
    ["foreground", "default"],
    ["orphan", "default"],
    ["orphan", "orphans"],
  ])("A.7 A.8 deleted with %s propagation in queue %s while it runs, and created again", async (cascade, queue) => {
    const at = await fleet.namespace(`deleted-${cascade}-${queue}`);
    if (queue === "orphans") await fleet.hub.api.create(jobQueues, undefined, ORPHANS);
    const hub = await at.follow("d");
    await at.submit("d", { spec: twoPods, pod: forever, labels: { [QUEUE_LABEL]: queue } });
    await failOnce(at, "d");
    const before = await runningPods(at, "d");
    const deleted = await fleet.hub.kubectl(
      ...["delete", "job", "d", "-n", at.name, "--wait", `--cascade=${cascade}`, "--timeout=80s"],
    );
    expect(deleted).toMatchObject({ code: 0 });
    const second = await at.submit("d");
    const left = (await runningPods(at, "d")).filter((uid) => before.includes(uid));
    expect(left.length > 0).toBe(queue === "orphans");
    const isSaid = async () => (await at.events("d")).some(({ reason }) => reason === "OrphansDeleted");
    if (cascade === "orphan" && queue === "default") await at.until("it is said that pods go, too", isSaid);
    expect((await at.untilFinished("d")).metadata.uid).toBe(second.metadata.uid);
    await expectOwnStatus(hub, second.metadata.uid);
  });
}

const ORPHANS = {
  apiVersion: "jobferry.dev/v1alpha1",
  kind: "JobQueue",
  metadata: { name: "orphans" },
  spec: { allowOrphans: true },
};

async function runningPods(at: FleetNamespace, name: string): Promise<(string | undefined)[]> {
  const running = (await at.pods(name)).filter(({ pod }) => pod.status?.phase === "Running");
  return running.map(({ pod }) => pod.metadata.uid);
}

export const twoPods = { completions: 2, parallelism: 2 };

/** A Job of two pods has one failed and one running: something to be told from a new Job's status. */
export async function failOnce(at: FleetNamespace, name: string): Promise<void> {
  await at.untilActive(name, 2);
  await at.end(name, 3);
  await at.until("one failed", async () => ((await at.job(name))?.status?.failed ?? 0) === 1);
}

/** The Job with this UID succeeded without ever showing the other one's failure. */
export async function expectOwnStatus(hub: History, uid: string | undefined): Promise<void> {
  const last = await hub.until((job) => job.metadata.uid === uid && isFinished(job));
  expect(last.status?.succeeded).toBe(1);
  const own = hub.states.filter(({ metadata }) => metadata.uid === uid);
  expect(own[0]?.status ?? {}).toEqual({});
  expect(own.map(({ status }) => status?.failed ?? 0).filter((failed) => failed > 0)).toEqual([]);
}
