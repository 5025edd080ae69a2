import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import {
  ADMITTED,
  ASSIGNED_QUEUE,
  CLUSTER,
  CLUSTER_SELECTOR,
  EPOCH,
  GRANT,
  HUB_MANAGED_BY,
  PRIORITY,
  QUEUE_LABEL,
  SEQ,
  WITHDRAW_FINALIZER,
} from "@jobferry/shared/protocol/marks.ts";
import { type Attacker, clientOf, container, tryAll } from "./attacker.ts";

const forever = { "instant-pods/run": "forever" };
/** An API server's limit on annotations, in characters that take six bytes each in JSON. */
const CONTROL = "\u0001".repeat(250_000);

/** May do everything in one namespace of the hub. */
export async function maliciousSubmitter(kubeconfig: string, namespace: string): Promise<Attacker> {
  const client = await clientOf(kubeconfig);
  const job = (name: string, metadata: object, spec: object = {}, pod: object = {}): Job => ({
    metadata: { name, labels: { [QUEUE_LABEL]: namespace }, ...metadata },
    spec: {
      managedBy: HUB_MANAGED_BY,
      template: { spec: { restartPolicy: "Never", containers: [container], ...pod } },
      ...spec,
    },
  });
  const submit = (one: Job, at = namespace) => client.create(jobs, at, one);
  const patch = (name: string, body: object, at = namespace) =>
    client.patch(jobs, { namespace: at, name }, { type: "merge", body });
  const remove = (name: string, propagationPolicy: "Orphan" | "Background") =>
    client.delete(jobs, { namespace, name }, { propagationPolicy });

  return {
    name: "a submitter",
    async attack(round, victims) {
      const name = (what: string): string => `${what}-${round}`;
      const [victim] = victims;
      const marks = {
        [CLUSTER]: "west",
        [EPOCH]: "1",
        [ASSIGNED_QUEUE]: "default",
        [GRANT]: "A".repeat(43),
        [SEQ]: "1:1",
      };
      await tryAll(
        submit(job(name("forged"), { annotations: marks, finalizers: [WITHDRAW_FINALIZER] })),
        submit(job(name("last-epoch"), { annotations: { [EPOCH]: "2147483647" } })),
        submit(
          job(name("selector"), { annotations: { [CLUSTER_SELECTOR]: `${"!a,".repeat(60_000)}nowhere=${round}` } }),
        ),
        submit(job(name("shape"), { annotations: { [CLUSTER_SELECTOR]: `nowhere=${round}`, [PRIORITY]: "1000000" } })),
        submit(job(name("urgent"), { annotations: { [PRIORITY]: "1000000" } })),
        submit(job(name("many"), {}, { parallelism: 2 ** 31 - 1, completions: null, activeDeadlineSeconds: 2 })),
        submit(
          job(
            name("root"),
            {},
            {},
            { hostPID: true, hostNetwork: true, volumes: [{ name: "h", hostPath: { path: "/" } }] },
          ),
        ),
        submit(job(name("account"), {}, {}, { serviceAccountName: "jobferry-agent" })),
        // Into the queue of the others.
        submit(job(name("uninvited"), { labels: {} })),
        submit(job(name("elsewhere"), { labels: { [QUEUE_LABEL]: "../default" } })),
        // Their own pods, and pods of others that carry such labels.
        submit(
          job(
            name("thief"),
            {},
            {
              manualSelector: true,
              selector: { matchLabels: { app: "honest" } },
              template: {
                metadata: { labels: { app: "honest" } },
                spec: { restartPolicy: "Never", containers: [container] },
              },
            },
          ),
        ),
        submit(
          job(
            name("grows"),
            {},
            {
              parallelism: 1,
              completions: 40,
              template: {
                metadata: { annotations: forever },
                spec: { restartPolicy: "Never", containers: [container] },
              },
            },
          ),
        ),
      );
      const before = (what: string): string => `${what}-${round - 1}`;
      await tryAll(
        patch(before("grows"), {
          spec: { parallelism: 6 },
          metadata: { annotations: { [ADMITTED]: "6:x", note: CONTROL } },
        }),
        patch(before("grows"), { metadata: { annotations: { note: CONTROL } } }),
        patch(before("urgent"), { metadata: { annotations: { [CLUSTER]: "west", [EPOCH]: "7" } } }),
        patch(before("forged"), { metadata: { finalizers: null } }),
        patch(before("shape"), { metadata: { labels: { [QUEUE_LABEL]: `queue-${round}` } } }),
        ...(victim === undefined
          ? []
          : [
              patch(victim.name, { spec: { suspend: true } }, victim.namespace),
              client.delete(jobs, { namespace: victim.namespace, name: victim.name }),
            ]),
      );
      await tryAll(
        remove(before("grows"), "Orphan"),
        ...["urgent", "thief", "many", "forged", "root", "account"].map((what) => remove(before(what), "Background")),
      );
    },
    stop: () => client.close(),
  };
}
