import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER, EPOCH, MESSAGE, SEQ, TAKEN } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { referenceLine, referenceWords } from "./references.ts";

const job: Job = {
  metadata: { namespace: "team", name: "j" },
  spec: {
    template: {
      spec: {
        priorityClassName: "urgent",
        containers: [
          {
            name: "main",
            envFrom: [{ configMapRef: { name: "words" } }, { secretRef: { name: "login", optional: true } }],
          },
        ],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      },
    },
  },
};
const refusal = (cluster: string, objects: string) => ({
  message: `Cluster ${cluster} refused the Job: ReferenceMissing: ${objects} do not exist on this cluster; create them there`,
});

const lines = (marks: Record<string, string>, warnings: { message: string }[] = [], queue?: JobQueue) =>
  referenceWords({ ...job, metadata: { ...job.metadata, annotations: marks } }, queue, warnings).map(referenceLine);

it("says of each reference where its pods get it from, and which clusters lack it", () => {
  const warnings = [
    refusal("east", "PersistentVolumeClaim team/data, PriorityClass urgent"),
    refusal("west", "PersistentVolumeClaim team/data"),
    refusal("west", "PersistentVolumeClaim team/data"),
    { message: "Cluster east refused the Job: QuotaExceeded: PriorityClass urgent" },
  ];
  expect(lines({}, warnings)).toEqual([
    "ConfigMap team/words: travels from the hub; no cluster asked yet",
    "Secret team/login: must be on the worker; optional",
    "PersistentVolumeClaim team/data: must be on the worker; missing on east; missing on west",
    "PriorityClass urgent: must be on the worker; missing on east",
  ]);
});

it("says how far copies are on the cluster that has the Job", () => {
  const assigned = { [CLUSTER]: "west", [EPOCH]: "2", [TAKEN]: "ConfigMap/words:0123456789", [SEQ]: "1:77:id" };
  const before = [refusal("west", "PersistentVolumeClaim team/data")];
  expect(lines(assigned, before)).toEqual([
    "ConfigMap team/words: travels from the hub; on its way to west",
    "Secret team/login: must be on the worker; optional",
    "PersistentVolumeClaim team/data: must be on the worker; missing on west",
    "PriorityClass urgent: must be on the worker; no cluster asked yet",
  ]);
  expect(lines({ ...assigned, [SEQ]: "2:78:id" }, before)).toEqual([
    "ConfigMap team/words: travels from the hub; copied to west",
    "Secret team/login: must be on the worker; optional",
    "PersistentVolumeClaim team/data: must be on the worker; found on west",
    "PriorityClass urgent: must be on the worker; found on west",
  ]);
});

it.each([
  ["waiting: ConfigMap team/words does not exist on the hub: create it", "missing on the hub"],
  ["waiting: ConfigMap team/words may not be read by the manager: apply", "the manager may not read it"],
  [
    "waiting: Secret team/a, ConfigMap team/words changed on the hub since",
    "changed on the hub since the Job was last",
  ],
])("a Job that says %j", (message, want) => {
  expect(lines({ [MESSAGE]: message })[0]).toContain(`travels from the hub; ${want}`);
});

it("says that an optional one was left out", () => {
  const assigned = { [CLUSTER]: "west", [EPOCH]: "1", [TAKEN]: "", [SEQ]: "1:77:id" };
  expect(lines(assigned)[0]).toBe(
    "ConfigMap team/words: travels from the hub; the hub has none that the manager may take along",
  );
});

it("says which cluster takes none of the kind", () => {
  const message =
    "Cluster east refused the Job: ReferenceNotAccepted: this cluster takes no Secrets of the hub: start its agent with";
  const queue: JobQueue = { metadata: {}, spec: { references: { secrets: "Copy" } } };
  expect(lines({}, [{ message }], queue).slice(0, 2)).toEqual([
    "ConfigMap team/words: travels from the hub; no cluster asked yet",
    "Secret team/login: travels from the hub; optional; refused by east",
  ]);
});

it("follows the policy of the queue", () => {
  const queue = { metadata: {}, spec: { references: { configMaps: "Expect", secrets: "Copy" } } } as const;
  const from = referenceWords(job, queue, []).map(({ object, from }) => `${object} ${from}`);
  expect(from.slice(0, 2)).toEqual(["ConfigMap team/words the worker", "Secret team/login the hub"]);
});

it("a Job that refers to nothing has no lines", () => {
  expect(referenceWords({ ...job, spec: { template: { spec: { containers: [] } } } }, undefined, [])).toEqual([]);
});
