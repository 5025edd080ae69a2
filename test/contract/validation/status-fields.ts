/** Single changes of a status; `finish` and `fail` are the whole steps that a correct controller takes. */
import type { Random } from "../../differential/random.ts";
import type { FieldChoices } from "./choices.ts";
import { setPath } from "./paths.ts";

const counters = [0, 1, 2, 3, 5, -1, null, undefined] as const;
const indexes = ["", "0", "1", "0,1", "0-2", "1,0", "0-0", "x", "7", "0,2", null, undefined] as const;
const START = "2026-01-01T00:00:00Z";
const times = [
  START,
  "2026-01-01T01:00:00+01:00",
  "2026-01-01T00:00:00.5Z",
  "2026-01-01T00:05:00Z",
  undefined,
  null,
] as const;

const STATUS_FIELDS: readonly FieldChoices[] = [
  ["status.active", counters],
  ["status.ready", counters],
  ["status.terminating", counters],
  ["status.succeeded", counters],
  ["status.failed", counters],
  ["status.completedIndexes", indexes],
  ["status.failedIndexes", indexes],
  ["status.startTime", [...times, "2025-12-31T00:00:00Z", "soon"]],
  ["status.completionTime", [...times, "2025-12-31T00:00:00Z"]],
  [
    "status.uncountedTerminatedPods",
    [
      {},
      { succeeded: ["a"] },
      { failed: ["a", "b"] },
      { succeeded: ["a", "a"], failed: ["a"] },
      { succeeded: [""], failed: ["", "b"] },
      { succeeded: [], failed: [] },
      null,
      undefined,
    ],
  ],
  ["metadata.labels.status", ["x", "bad value"]],
  ["spec.parallelism", [9]],
];

const TYPES = ["Suspended", "FailureTarget", "Failed", "SuccessCriteriaMet", "Complete", "Other"] as const;

interface Condition {
  type: string;
  status: string;
}

interface StatusJson {
  conditions?: Condition[];
}

function flipCondition(random: Random, job: object): string {
  const status = statusOf(job);
  const type = random.pick(TYPES);
  const value = random.weighted([
    [6, "True"],
    [3, "False"],
    [1, "Unknown"],
  ]);
  const others = (status.conditions ?? []).filter((condition) => condition.type !== type || random.chance(0.1));
  const removed = random.chance(0.25);
  status.conditions = removed ? others : [...others, { type, status: value }];
  return removed ? `no ${type}` : `${type}=${value}`;
}

const statusOf = (job: object): StatusJson => {
  const holder = job as { status?: StatusJson };
  holder.status ??= {};
  return holder.status;
};

function end(job: object, interim: string, terminal: string): void {
  const status = statusOf(job);
  const kept = (status.conditions ?? []).filter(({ type }) => type !== interim && type !== terminal);
  status.conditions = [...kept, { type: interim, status: "True" }, { type: terminal, status: "True" }];
  for (const counter of ["active", "ready", "terminating"]) setPath(job, `status.${counter}`, 0);
  setPath(job, "status.uncountedTerminatedPods", {});
  const { startTime = START } = status as { startTime?: string };
  setPath(job, "status.startTime", startTime);
  if (terminal === "Complete") setPath(job, "status.completionTime", "2026-01-01T00:10:00Z");
}

/** Changes `job` in place; gives a description. */
export function editStatus(random: Random, job: object): string {
  const step = random.next();
  if (step < 0.06) {
    end(job, "SuccessCriteriaMet", "Complete");
    return "finish";
  }
  if (step < 0.12) {
    end(job, "FailureTarget", "Failed");
    return "fail";
  }
  if (step < 0.4) return flipCondition(random, job);
  const [path, values] = random.pick(STATUS_FIELDS as readonly [FieldChoices, ...FieldChoices[]]);
  const value = random.pick(values);
  setPath(job, path, value);
  return `${path} = ${JSON.stringify(value) ?? "absent"}`;
}
