/** What it costs the hub to show a pod whose kubelet writes its status as often as kubelets do, on a simulated fleet. */
import { DEFAULT_POD_SETTINGS } from "@jobferry/manager/pods/settings.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
const stop = new AbortController();
afterEach(async () => {
  stop.abort();
  await fleet.stop();
});

/** Of everything of this kind that is seen from now on: how often it was written after it was created. */
async function writesTo<T extends KubeObject>(resource: Resource<T>, on: Fleet["hub"]): Promise<() => number> {
  let writes = 0;
  const reflector = new Reflector<T>({ api: on.api, resource, clock: fleet.clock, namespace: "default" });
  reflector.addHandler({
    updated: () => {
      writes++;
    },
  });
  void reflector.start(stop.signal);
  await fleet.clock.advance(100);
  return () => writes;
}

async function podOf(worker: Fleet["hub"]): Promise<Pod> {
  const [pod] = (await worker.api.list(pods, { namespace: "default" })).items;
  if (pod === undefined) throw new Error("no pod");
  return pod;
}

/** As a kubelet that has set up the network, or cleared up. */
async function changeCondition(worker: Fleet["hub"], message: string): Promise<void> {
  const { metadata, status } = await podOf(worker);
  const others = (status?.conditions ?? []).filter(({ type }) => type !== "Tested");
  const conditions = [...others, { type: "Tested", status: "True", message }];
  const key = { namespace: "default", name: metadata.name ?? "" };
  await worker.api.patch(pods, key, { type: "merge", body: { status: { conditions } } }, { subresource: "status" });
}

it("each step of a pod is a write of its shadow, all between two steps is one, and what follows its end is none", async () => {
  fleet = await new Fleet({
    ...{ workers: ["east"], pods: DEFAULT_POD_SETTINGS, behaviour: () => ({ runMs: 20_000 }) },
  }).start();
  const worker = fleet.workers.get("east")?.cluster;
  if (worker === undefined) throw new Error("no worker");
  const [shadow, job] = [await writesTo(pods, fleet.hub), await writesTo(jobs, fleet.hub)];
  await fleet.submit("j");
  await fleet.until(async () => (await fleet.podsOn("east")) > 0 && (await podOf(worker)).status?.phase === "Running");
  await fleet.clock.advance(5_000);
  const running = shadow();
  expect(running).toBeLessThanOrEqual(2); // it stands for the pod, and shows that it runs
  expect(job()).toBe(2); // assigned, and running
  for (const message of ["one", "two", "three"]) {
    await changeCondition(worker, message);
    await fleet.clock.advance(300);
  }
  await fleet.clock.advance(3_000);
  expect(shadow()).toBe(running + 1);
  await fleet.untilFinished("j");
  await fleet.clock.advance(3_000);
  await changeCondition(worker, "cleared up");
  await fleet.clock.advance(5_000);
  expect(shadow()).toBe(running + 2);
  expect(job()).toBe(3);
});
