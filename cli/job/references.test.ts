import type { Job } from "@jobferry/shared/job/types.ts";
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

it("says of each reference where its pods get it from, and which clusters lack it", () => {
  const warnings = [
    refusal("east", "PersistentVolumeClaim team/data, PriorityClass urgent"),
    refusal("west", "PersistentVolumeClaim team/data"),
    refusal("west", "PersistentVolumeClaim team/data"),
    { message: "Cluster east refused the Job: QuotaExceeded: PriorityClass urgent" },
  ];
  expect(referenceWords(job, undefined, warnings).map(referenceLine)).toEqual([
    "ConfigMap team/words: travels from the hub",
    "Secret team/login: must be on the worker; optional",
    "PersistentVolumeClaim team/data: must be on the worker; missing on east, west",
    "PriorityClass urgent: must be on the worker; missing on east",
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
