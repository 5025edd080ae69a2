import { SandboxCluster } from "@jobferry/sandbox/cluster.ts";
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { expect, it } from "vitest";

const PODS = 3_000;
// Seconds of work; the machine may have others to do.
const TIMEOUT_MS = 120_000;

it("D more pods end at once than one sync accounts for: no pod too many, none deleted (TK-10)", {
  timeout: TIMEOUT_MS,
}, async () => {
  const clock = new VirtualClock();
  const nodes = [{ cpu: "10000", memory: "10Ti", pods: 10_000 }];
  const cluster = new SandboxCluster({ clock, seed: 1, kubelet: "virtual", nodes });
  await cluster.start();
  const controller = runJobController({ api: cluster.apiFor("controller"), clock, claim: "unmanaged" });
  await controller.started;
  let created = 0;
  let deleted = 0;
  const observer = new Reflector<Pod>({ api: cluster.api, resource: pods, clock });
  observer.addHandler({ added: () => void created++, deleted: () => void deleted++ });
  const stop = new AbortController();
  const observing = observer.start(stop.signal);
  let job = await cluster.api.create<Job>(jobs, "default", {
    metadata: { name: "flood" },
    spec: {
      completionMode: "Indexed",
      completions: PODS,
      parallelism: 1_000,
      template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] } },
    },
  });
  for (let second = 0; second < 600 && !isFinished(job); second++) {
    await clock.advance(1_000);
    job = await cluster.api.get(jobs, { namespace: "default", name: "flood" });
  }
  expect(job.status?.succeeded).toBe(PODS);
  expect({ created, deleted }).toEqual({ created: PODS, deleted: 0 });
  stop.abort();
  await Promise.all([observing, controller.stop(), cluster.stop(), clock.advance(5_000)]);
});
