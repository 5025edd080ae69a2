/** One pass over a Job and its pods, as far as a test needs it. */
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { type AssessInput, assess } from "../core/assess.ts";
import { noFailures } from "../core/backoff.ts";
import { rules } from "../core/rules.ts";
import { defaultLimits, type Limits, type Pass } from "../core/types.ts";
import { NOW } from "./builders.ts";

interface PassOptions extends Partial<Omit<AssessInput, "limits">> {
  limits?: Partial<Limits>;
}

export const passOver = (job: Job, pods: readonly { build(): Pod }[] = [], options: PassOptions = {}): Pass =>
  assess(rules, {
    job,
    pods: pods.map((pod) => pod.build()),
    now: NOW,
    satisfied: true,
    awaited: new Set(),
    backoff: noFailures,
    startTime: undefined,
    ...options,
    limits: { ...defaultLimits, ...options.limits },
  });
