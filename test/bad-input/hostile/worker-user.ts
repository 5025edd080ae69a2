import { randomUUID } from "node:crypto";
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { EPOCH, HUB_UID_LABEL, PROOF, REVISION, WORKER_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { type Attacker, clientOf, container, template, tryAll } from "./attacker.ts";

/** May do everything in one namespace of a worker, and knows the UIDs of the hub's Jobs. */
export async function maliciousWorkerUser(kubeconfig: string, namespace: string): Promise<Attacker> {
  const client = await clientOf(kubeconfig);
  const create = (one: Job) => client.create(jobs, namespace, one);
  const pod = template();
  return {
    name: "a user of a worker",
    async attack(round, victims) {
      const uid = victims[round % Math.max(1, victims.length)]?.uid ?? randomUUID();
      const annotations = { [EPOCH]: "1", [REVISION]: "9007199254740991", [PROOF]: "A".repeat(43) };
      const labels = { [HUB_UID_LABEL]: uid };
      await tryAll(
        create({
          metadata: { name: `fake-${round}`, labels, annotations },
          spec: { managedBy: WORKER_MANAGED_BY, template: pod },
        }),
        create({ metadata: { name: `plain-${round}`, labels, annotations }, spec: { template: pod } }),
        create({ metadata: { name: `ours-${round}` }, spec: { managedBy: WORKER_MANAGED_BY, template: pod } }),
        client
          .create(jobs, namespace, {
            metadata: { name: `later-${round}` },
            spec: { managedBy: WORKER_MANAGED_BY, suspend: true, template: pod },
          })
          .then(() =>
            client.patch(
              jobs,
              { namespace, name: `later-${round}` },
              { type: "merge", body: { metadata: { labels, annotations } } },
            ),
          ),
        client.create(pods, namespace, {
          metadata: {
            name: `pod-${round}`,
            labels: { app: "honest", "batch.kubernetes.io/controller-uid": uid, "controller-uid": uid },
            finalizers: ["batch.kubernetes.io/job-tracking"],
          },
          spec: { containers: [container] },
        }),
      );
    },
    stop: () => client.close(),
  };
}
