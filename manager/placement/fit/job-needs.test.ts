import type { Job } from "@jobferry/shared/job/types.ts";
import { describe, expect, test } from "vitest";
import { jobNeeds } from "./job-needs.ts";

const aJob = (spec: Partial<Job["spec"]>, podSpec: object = {}, over: Partial<Job> = {}): Job => ({
  metadata: {},
  spec: { template: { spec: { containers: [{ name: "main" }], ...podSpec } }, ...spec },
  ...over,
});

describe("what a Job needs", () => {
  test.each<[string, Job, number]>([
    ["one pod unless said otherwise", aJob({}), 1],
    ["its parallelism", aJob({ parallelism: 5 }), 5],
    ["no more than it has to complete", aJob({ parallelism: 5, completions: 3 }), 3],
    ["less what is done already", aJob({ parallelism: 5, completions: 6 }, {}, { status: { succeeded: 4 } }), 2],
    ["at least one", aJob({ parallelism: 0 }), 1],
  ])("pods at a time: %s", (_, job, pods) => {
    expect(jobNeeds(job).pods).toBe(pods);
  });

  test.each([
    ["true", true],
    ["false", false],
    ["", false],
  ])("the gang annotation %j", (value, gang) => {
    const metadata = { annotations: { "jobferry.dev/gang": value } };
    expect(jobNeeds(aJob({}, {}, { metadata })).gang).toBe(gang);
  });

  test("where its pods may go, and what they ask for", () => {
    const terms = [{ matchExpressions: [{ key: "a", operator: "Exists" }] }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
    const tolerations = [{ operator: "Exists" }];
    const containers = [{ name: "main", resources: { requests: { cpu: "2", memory: "0" } } }];
    const podSpec = { containers, nodeSelector: { b: "c" }, affinity: { nodeAffinity: required }, tolerations };
    expect(jobNeeds(aJob({}, { ...podSpec, nodeName: "" }))).toEqual({
      perPod: new Map([
        ["pods", 1],
        ["cpu", 2000],
      ]),
      pods: 1,
      gang: false,
      alone: false,
      rules: { nodeName: undefined, nodeSelector: { b: "c" }, affinity: terms, tolerations },
    });
    expect(jobNeeds(aJob({}, { nodeName: "n" })).rules.nodeName).toBe("n");
  });

  test.each<[string, object, boolean]>([
    ["a port of the host", { containers: [{ name: "c", ports: [{ containerPort: 1, hostPort: 1 }] }] }, true],
    ["a port of its own", { containers: [{ name: "c", ports: [{ containerPort: 1 }] }] }, false],
    ["the host's network", { hostNetwork: true, containers: [{ name: "c", ports: [{ containerPort: 1 }] }] }, true],
    ["the host's network without a port", { hostNetwork: true }, false],
    ["an init container's, while it runs", { initContainers: [{ name: "i", ports: [{ hostPort: 1 }] }] }, false],
    ["a sidecar's", { initContainers: [{ name: "i", restartPolicy: "Always", ports: [{ hostPort: 1 }] }] }, true],
  ])("one pod to a node because of %s", (_, podSpec, alone) => {
    expect(jobNeeds(aJob({}, podSpec)).alone).toBe(alone);
  });
});
