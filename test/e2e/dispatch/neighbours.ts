/** A.9, A.10 and A.14: other people's Jobs, and names. */
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import { forever, type ScenarioFleet } from "./fleet-namespace.ts";

const localJob = (name: string, managedBy?: string): Job => ({
  metadata: { name },
  spec: {
    ...(managedBy === undefined ? {} : { managedBy }),
    template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } },
  },
});

export function neighbours(fleet: ScenarioFleet): void {
  it.concurrent("A.9 a worker's own Job of the same name is reported, and not touched", async () => {
    const at = await fleet.namespace("taken");
    const before = [];
    for (const { api } of fleet.workers.values())
      before.push(await api.create(jobs, at.name, localJob("taken", "example.com/other")));
    await at.submit("taken");
    await at.untilMessage("taken", /east, west: refused it: NameTaken/);
    const after = await Promise.all([...fleet.workers.keys()].map((cluster) => at.mirrorOn(cluster, "taken")));
    expect(after).toEqual(before);
  });

  it.concurrent("A.14 equal names in two namespaces, long names, names with dots, generated names", async () => {
    const [one, other] = [await fleet.namespace("names-one"), await fleet.namespace("names-other")];
    await one.submit("same", { spec: { backoffLimit: 0 }, pod: { annotations: { "instant-pods/exit-code": "3" } } });
    await other.submit("same");
    const names = ["a".repeat(63), "with.dots"];
    for (const name of names) await one.submit(name);
    for (let i = 0; i < 2; i++) names.push((await one.submit({ generateName: "made-" })).metadata.name ?? "");
    for (const name of names) expect((await one.untilFinished(name)).status).toMatchObject({ succeeded: 1 });
    expect((await other.untilFinished("same")).status).toMatchObject({ succeeded: 1 });
    expect((await one.untilFinished("same")).status).toMatchObject({ failed: 1 });
  });
}

/** Where hub and workers run the Job controller of Kubernetes, too. */
export function ownJobs(fleet: ScenarioFleet): void {
  it.concurrent("A.10 hub and worker run Jobs of their own beside dispatched ones", async () => {
    const at = await fleet.namespace("mixed");
    await at.submit("dispatched", { pod: forever });
    await at.untilActive("dispatched", 1);
    const worker = fleet.worker(await at.cluster("dispatched"));
    await worker.api.create(jobs, at.name, localJob("worker-local"));
    await fleet.hub.api.create(jobs, at.name, localJob("hub-local"));
    await at.until("the worker's own Job is complete", async () => {
      return (await worker.api.get(jobs, { namespace: at.name, name: "worker-local" })).status?.succeeded === 1;
    });
    // Nothing runs pods on this hub; its own controller makes them.
    await at.untilActive("hub-local", 1);
    const own = [await at.job("hub-local"), await worker.api.get(jobs, { namespace: at.name, name: "worker-local" })];
    for (const job of own) {
      const { labels = {}, annotations = {}, finalizers = [] } = job?.metadata ?? {};
      const marks = [...Object.keys(labels), ...Object.keys(annotations), ...finalizers];
      expect(marks.filter((mark) => mark.startsWith("jobferry.dev/"))).toEqual([]);
    }
    await at.end("dispatched", 0);
    expect((await at.untilFinished("dispatched")).status?.succeeded).toBe(1);
  });
}
