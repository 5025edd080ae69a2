/** Known bugs as edits of the product's source, made while it is loaded: whether the search would find them again. */
export interface Edit {
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
}

const edit = (file: string, from: string, to: string): Edit => ({ file, from, to });
const mutant = (name: string, ...edits: Edit[]): Mutant => ({ name, edits });

const DECIDE = "worker-agent/assignments/decide.ts";
const STATE = "worker-agent/assignments/state.ts";
const ASSIGNMENTS = "worker-agent/assignments/assignments.ts";

export const MUTANTS: readonly Mutant[] = [
  mutant(
    "F1 F3 a delivery is followed before any inventory has confirmed it",
    edit(DECIDE, "if (inventory === undefined) return AWAIT;", ""),
    edit(DECIDE, 'if (!inventory.confirms(delivery)) return { do: "forget" };', ""),
  ),
  mutant(
    "F2 an epoch that is over is told once, and never again",
    edit(STATE, "{ ...state, revision, owed: true }", "{ ...state, revision }"),
    edit(ASSIGNMENTS, "if (isOwed) changed.set(ref.uid, { ...state, owed: true });", ""),
  ),
  mutant(
    "F9 an agent that starts gives pods to what it finds",
    edit("worker-agent/contact/start-gate.ts", "return this.#isOpen || (", "return true || ("),
  ),
  mutant("F12 a process that stood still writes on", edit("shared/kube/fenced-api.ts", "if (!holds())", "if (false)")),
  mutant(
    "F17 a mirror's update names no UID",
    edit(
      "worker-agent/assignments/mirror-spec.ts",
      "{ metadata: { uid, annotations }, spec: { ...fields",
      "{ metadata: { annotations }, spec: { ...fields",
    ),
  ),
  mutant(
    "the hub refuses indexes that it gave up",
    edit("manager/reports/accept.ts", "withinCompletions(job, report.status)", "report.status"),
  ),
  mutant(
    "a Job may end before it started",
    edit("manager/reports/accept.ts", "inOrder(keepStartTime(", "((status: JobStatus) => status)(keepStartTime("),
  ),
  mutant(
    "the back-off counts from an end in the future",
    edit(
      "worker-agent/job-controller/core/backoff.ts",
      "return { failures: record.failures + newFailed.length, lastFailureMs: Math.min(latest(failureTimes), now), seenMs };",
      "return { failures: record.failures + newFailed.length, lastFailureMs: latest(failureTimes), seenMs };",
    ),
  ),
  mutant(
    "M5 Wait acts as Redispatch",
    edit("manager/hub-job/loss-policy.ts", 'if (policy === "Wait") return false;', ""),
    edit("manager/hub-job/loss-policy.ts", 'return policy === "Redispatch";', "return true;"),
  ),
  mutant(
    "M9 a stranger's Job of the same name is taken for a mirror that is in the way",
    edit(
      "worker-agent/assignments/arrival.ts",
      "if (identity === undefined) return",
      'if (identity === undefined) await this.#departure.delete(existing, "Foreground"); if (identity === undefined) return',
    ),
  ),
  mutant(
    "M12 a mirror is deleted without a precondition",
    edit(
      "worker-agent/assignments/departure.ts",
      "const preconditions = uid === undefined ? {} : { preconditions: { uid } };",
      "const preconditions = {};",
    ),
  ),
  mutant(
    "F18 a Job leaves a lost cluster for nowhere",
    edit("manager/hub-job/decide.ts", 'if (fitsElsewhere === true) return leave("lost");', 'return leave("lost");'),
  ),
  mutant("M11 a hand-over does not wait for rest", edit(DECIDE, "return isAtRest(mirror) ?", "return true ?")),
];
