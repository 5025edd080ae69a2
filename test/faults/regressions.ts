/** Scenarios D: what went wrong in the field once, each brought back by replacing one rule or one call of the controller. */
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { rules } from "@jobferry/worker-agent/job-controller/core/rules.ts";
import type { Outcome } from "@jobferry/worker-agent/job-controller/core/types.ts";
import type { Sabotage } from "./world.ts";

export interface Regression {
  readonly name: string;
  /** The beginning of the name of the scenario that shows it. */
  readonly scenario: string;
  readonly sabotage: Sabotage;
  /** How it shows: noticed for another reason does not count. */
  readonly symptom: RegExp;
}

const trustsEveryCache = { staleCache: () => undefined };

/** A client with one call replaced; its methods are not all enumerable, so it cannot be spread. */
const withCall = (api: KubeApi, calls: Partial<KubeApi>): KubeApi =>
  new Proxy(api, {
    get: (target, name) => {
      const replaced = calls[name as keyof KubeApi];
      if (replaced !== undefined) return replaced;
      const own: unknown = Reflect.get(target, name);
      return typeof own === "function" ? (own.bind(target) as unknown) : own;
    },
  });

/** SW-7: without a resourceVersion the last write wins. */
const writesUnconditionally = (api: KubeApi): KubeApi =>
  withCall(api, {
    replace: (resource, key, object, options) => {
      const { resourceVersion: _, ...metadata } = object.metadata;
      return api.replace(resource, key, { ...object, metadata }, options);
    },
  });

/** A creation without an answer is taken for done. */
const takesTimeoutForSuccess = (api: KubeApi): KubeApi =>
  withCall(api, { create: (resource, ...rest) => api.create(resource, ...rest).catch(() => rest[1]) });

export const regressions: readonly Regression[] = [
  {
    name: "double counting of a finished pod (SX-9)",
    scenario: "failures are replaced",
    symptom: /was listed twice/,
    sabotage: {
      rules: { ...trustsEveryCache, factsOf: (job, pod) => rules.factsOf(job, pod, new Set()) },
    },
  },
  {
    name: "more pods finish at once than one sync accounts (TK-10)",
    scenario: "accounted in several rounds",
    symptom: /was let go uncounted/,
    sabotage: {
      rules: { mayFinish: (outcome, status): outcome is Outcome => rules.mayFinish(outcome, status, false) },
    },
  },
  {
    name: "finalizers left after the Job is gone (OR-2)",
    scenario: "deleted in the background",
    symptom: /not over/,
    sabotage: { rules: { isOrphanToRelease: () => false } },
  },
  {
    name: "finalizers left after the Job has finished (TK-3)",
    scenario: "success policy stops the rest (",
    symptom: /"podsLeftWithFinalizer":2/,
    sabotage: {
      rules: {
        mayRelease: (pass, outcome, facts) =>
          rules.mayRelease(pass, outcome, facts) && (outcome === undefined || facts.succeeded),
        isOrphanToRelease: () => false,
      },
    },
  },
  {
    name: "an extra pod after success: what has just succeeded is not counted in (CT-7)",
    scenario: "failures are replaced",
    symptom: /created beyond completions/,
    sabotage: {
      rules: { planScale: (pass) => rules.planScale({ ...pass, succeeded: pass.status.succeeded ?? 0 }) },
    },
  },
  {
    name: "an extra pod after success: a finished Job is synced from an old cache (CL-9)",
    scenario: "one pod succeeds",
    symptom: /created for a finished Job/,
    sabotage: { rules: { ...trustsEveryCache, admit: (job, claim) => rules.admit(job, claim, false) } },
  },
  {
    name: "a phase that flips from Succeeded to Failed (TK-7)",
    scenario: "a listed success turns into a failure",
    symptom: /uncountedTerminatedPods.*Duplicate/,
    sabotage: { rules: { uncountedOf: (status) => ({ ...rules.uncountedOf(status), succeeded: new Set() }) } },
  },
  {
    name: "active 0 while ready > 0 during back-off (CT-15)",
    scenario: "a deleted pod is replaced at once",
    symptom: /more ready than active/,
    sabotage: {
      rules: {
        countsAfter: (pass, plan, result) => ({
          ...rules.countsAfter(pass, plan, result),
          ...(plan.kind === "wait" && { active: 0 }),
        }),
      },
    },
  },
  {
    name: "finished with terminating above 0 (CD-4)",
    scenario: "deadline exceeded",
    symptom: /a finished Job has no terminating pods/,
    sabotage: {
      rules: {
        mayFinish: (outcome, status, cut): outcome is Outcome =>
          rules.mayFinish(outcome, { ...status, terminating: 0 }, cut),
      },
    },
  },
  {
    name: "finished with ready above 0 (CT-13)",
    scenario: "deadline exceeded",
    symptom: /more ready than active/,
    sabotage: {
      rules: {
        countsAfter: (pass, plan, result) => ({ ...rules.countsAfter(pass, plan, result), ready: pass.ready }),
      },
    },
  },
  {
    name: "a failed status overwritten by a stale write (SW-1, SW-8)",
    scenario: "back-off limit exceeded",
    symptom: /Failed is final/,
    sabotage: {
      rules: { ...trustsEveryCache, admit: (job, claim) => rules.admit(job, claim, false) },
      wrap: writesUnconditionally,
    },
  },
  {
    name: "backoffLimit overshoot (CT-8)",
    scenario: "back-off limit exceeded",
    symptom: /"failed":3/,
    sabotage: {
      rules: { decideOutcome: (input) => rules.decideOutcome({ ...input, failed: input.status.failed ?? 0 }) },
    },
  },
  {
    name: "replacement before the old pod is gone (PR-2)",
    scenario: "a deleted pod is replaced when it has failed",
    symptom: /before the old one was gone/,
    sabotage: { rules: { planScale: (pass) => rules.planScale({ ...pass, terminating: 0 }) } },
  },
  {
    name: "pod-create timeouts that stop retrying (SX-4)",
    scenario: "one pod succeeds",
    symptom: /not over|took \d+ ms longer/,
    sabotage: { wrap: takesTimeoutForSuccess },
  },
  {
    name: "a sync on a cache that has not seen the controller's own last write (SW-8)",
    scenario: "work queue",
    symptom: /created above parallelism/,
    sabotage: { rules: { ...trustsEveryCache, isSatisfied: () => true } },
  },
  {
    name: "another controller's pod is let go (CL-11)",
    scenario: "another controller's Jobs",
    symptom: /wrote to stranger/,
    sabotage: { rules: { isOrphanToRelease: () => true } },
  },
];
