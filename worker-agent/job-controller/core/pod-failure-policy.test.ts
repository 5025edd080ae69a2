import type { PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";
import { describe, expect, it } from "vitest";
import { aJob, aPod } from "../testing/builders.ts";
import { countsAsFailure, failJobMessage, matchFailurePolicy } from "./pod-failure-policy.ts";

const withRules = (...rules: PodFailurePolicyRule[]) => aJob().spec({ podFailurePolicy: { rules } }).build();
const onCodes = (
  action: PodFailurePolicyRule["action"],
  operator: "In" | "NotIn",
  values: number[],
  containerName?: string,
): PodFailurePolicyRule => ({
  action,
  onExitCodes: { operator, values, ...(containerName !== undefined && { containerName }) },
});
const onCondition = (action: PodFailurePolicyRule["action"]): PodFailurePolicyRule => ({
  action,
  onPodConditions: [{ type: "DisruptionTarget", status: "True" }],
});

describe("matchFailurePolicy", () => {
  const code = (exitCode: number) => aPod(aJob().build()).failed({ exitCode }).build();
  const disrupted = (status: "True" | "False") =>
    aPod(aJob().build())
      .phase("Failed")
      .status({ conditions: [{ type: "DisruptionTarget", status }] })
      .build();

  it.each([
    ["PF-3 no rule", withRules(), code(1), undefined],
    ["PF-6 In", withRules(onCodes("FailJob", "In", [1, 7])), code(7), "FailJob"],
    ["PF-6 In, other code", withRules(onCodes("FailJob", "In", [1])), code(2), undefined],
    ["PF-6 NotIn", withRules(onCodes("Ignore", "NotIn", [1])), code(2), "Ignore"],
    ["PF-6 NotIn, listed code", withRules(onCodes("Ignore", "NotIn", [1])), code(1), undefined],
    ["PF-7 NotIn [0] matches any failure", withRules(onCodes("Count", "NotIn", [0])), code(9), "Count"],
    ["PF-7 exit code 0 matches nothing", withRules(onCodes("Count", "NotIn", [5])), code(0), undefined],
    ["PF-8 negative code", withRules(onCodes("FailJob", "In", [-1])), code(-1), "FailJob"],
    ["PF-5 container name", withRules(onCodes("FailJob", "In", [1], "main")), code(1), "FailJob"],
    ["PF-5 other container", withRules(onCodes("FailJob", "In", [1], "side")), code(1), undefined],
    ["PF-2 first rule wins", withRules(onCodes("Ignore", "In", [1]), onCodes("FailJob", "In", [1])), code(1), "Ignore"],
    [
      "PF-2 unknown action",
      withRules(onCodes("X" as "Count", "In", [1]), onCodes("Count", "In", [1])),
      code(1),
      "Count",
    ],
    ["PF-6 unknown operator", withRules(onCodes("Count", "X" as "In", [1])), code(1), undefined],
    ["PF-9 condition", withRules(onCondition("Ignore")), disrupted("True"), "Ignore"],
    ["PF-9 condition status", withRules(onCondition("Ignore")), disrupted("False"), undefined],
    ["PF-11 FailIndex", withRules(onCodes("FailIndex", "In", [1])), code(1), "FailIndex"],
  ] as const)("%s", (_, job, pod, want) => expect(matchFailurePolicy(job, pod)?.action).toBe(want));

  it("PF-5 looks at the current state only", () => {
    const restarted = aPod(aJob().build())
      .phase("Failed")
      .status({ containerStatuses: [{ name: "main", restartCount: 1, lastState: { terminated: { exitCode: 7 } } }] })
      .build();
    expect(matchFailurePolicy(withRules(onCodes("FailJob", "In", [7])), restarted)).toBeUndefined();
  });

  it("PF-4 looks at app containers before init containers", () => {
    const terminated = (name: string, exitCode: number) => ({
      name,
      restartCount: 0,
      state: { terminated: { exitCode } },
    });
    const pod = aPod(aJob().build(), "p")
      .phase("Failed")
      .status({ containerStatuses: [terminated("app", 5)], initContainerStatuses: [terminated("init", 4)] })
      .build();
    const job = withRules(onCodes("FailJob", "In", [4, 5]));
    expect(matchFailurePolicy(job, pod)?.cause).toBe("Container app for pod ns/p failed with exit code 5");
  });
});

it("PF-11 only Ignore does not count", () => {
  expect(countsAsFailure(undefined)).toBe(true);
  for (const action of ["FailJob", "FailIndex", "Count"] as const)
    expect(countsAsFailure({ action, rule: 0, cause: "" })).toBe(true);
  expect(countsAsFailure({ action: "Ignore", rule: 0, cause: "" })).toBe(false);
});

describe("failJobMessage", () => {
  const job = withRules(onCodes("Ignore", "In", [3]), onCodes("FailJob", "In", [7]), onCondition("FailJob"));

  it("PF-13 tells container, code and rule", () =>
    expect(failJobMessage(job, [aPod(job, "p").failed({ exitCode: 7 }).facts()])).toBe(
      "Container main for pod ns/p failed with exit code 7 matching FailJob rule at index 1",
    ));

  it("PF-13 tells the condition", () => {
    const pod = aPod(job, "p")
      .phase("Failed")
      .status({ conditions: [{ type: "DisruptionTarget", status: "True" }] });
    expect(failJobMessage(job, [pod.facts()])).toBe(
      "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 2",
    );
  });

  it("PF-12 scans counted pods, too", () =>
    expect(failJobMessage(job, [aPod(job).failed({ exitCode: 7 }).untracked().facts()])).toBeDefined());

  it("PF-1 does not match a pod that has not failed", () => {
    const running = aPod(job).failed({ exitCode: 7 }).phase("Running").deleting().facts();
    expect(failJobMessage(job, [running])).toBeUndefined();
  });
});
