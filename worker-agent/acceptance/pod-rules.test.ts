import type { JobSpec } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { reachesNode, serviceAccountOf } from "./pod-rules.ts";

const main = { name: "main", image: "none" };
const jobWith = (pod: object): JobSpec =>
  ({ template: { spec: { restartPolicy: "Never", containers: [main], ...pod } } }) as JobSpec;
const container = (securityContext: object) => ({ containers: [{ ...main, securityContext }] });

describe("a pod", () => {
  it.each<[string, object]>([
    ["hostNetwork", { hostNetwork: true }],
    ["hostPID", { hostPID: true }],
    ["hostIPC", { hostIPC: true }],
    ["hostPath of volume etc", { volumes: [{ name: "etc", hostPath: { path: "/etc" } }] }],
    ["privileged of container main", container({ privileged: true })],
    ["privileged of container first", { initContainers: [{ name: "first", securityContext: { privileged: true } }] }],
    ["capability SYS_ADMIN of container main", container({ capabilities: { add: ["CHOWN", "SYS_ADMIN"] } })],
    ["capability ALL of container main", container({ capabilities: { add: ["ALL"] } })],
    ["procMount of container main", container({ procMount: "Unmasked" })],
    ["hostProcess", { securityContext: { windowsOptions: { hostProcess: true } } }],
    ["hostProcess of container main", container({ windowsOptions: { hostProcess: true } })],
  ])("with %s reaches the node", (what, pod) => {
    expect(reachesNode(jobWith(pod))).toEqual([what]);
  });

  it.each<[string, object]>([
    ["nothing special", {}],
    [
      "switches that are off",
      { hostNetwork: false, hostPID: false, hostIPC: false, ...container({ privileged: false }) },
    ],
    ["harmless capabilities", container({ capabilities: { add: ["CHOWN"], drop: ["ALL"] }, procMount: "Default" })],
    [
      "volumes of its own",
      {
        volumes: [
          { name: "tmp", emptyDir: {} },
          { name: "k", secret: { secretName: "k" } },
        ],
      },
    ],
  ])("with %s stays in its containers", (_, pod) => {
    expect(reachesNode(jobWith(pod))).toEqual([]);
  });

  it.each<[string, object]>([
    ["default", {}],
    ["default", { serviceAccountName: "" }],
    ["builder", { serviceAccountName: "builder" }],
    ["old-name", { serviceAccount: "old-name" }],
  ])("acts as %s", (account, pod) => {
    expect(serviceAccountOf(jobWith(pod))).toBe(account);
  });
});
