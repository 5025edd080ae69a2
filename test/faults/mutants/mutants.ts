/** Known bugs as edits of the product's source, made while it is loaded: whether the search would find them again. */
export interface Edit {
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A test that fails with the mutant, where the simulated fleet does not have the part that it breaks. */
export interface Killer {
  readonly project: "quick" | "full";
  readonly file: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly killer?: Killer;
  /** What brings it to light is too rare for chance: it is left to a named run. */
  readonly directed?: boolean;
}

/** The source with the edits of this file in it; undefined when there are none. Throws when the product has changed under them. */
export function mutated(edits: readonly Edit[], path: string, source: string): string | undefined {
  const here = edits.filter(({ file }) => path.endsWith(`/${file}`));
  if (here.length === 0) return undefined;
  return here.reduce((text, { file, from, to }) => {
    if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one ${JSON.stringify(from)}`);
    return text.replace(from, () => to);
  }, source);
}

const killed = (killer: Killer, name: string, ...edits: Edit[]): Mutant => ({ name, edits, killer });
const quick = (file: string): Killer => ({ project: "quick", file });
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
  killed(
    quick("shared/kube/fenced-api.test.ts"),
    "F12 a process that stood still writes on",
    edit("shared/kube/fenced-api.ts", "if (!holds())", "if (false)"),
  ),
  killed(
    { project: "full", file: "test/e2e/transport/readonly.real.test.ts" },
    "F19 a server that became a replica is not left",
    edit("shared/queue/redis-config.ts", 'error.message.includes("READONLY")', "error.message.length < 0"),
  ),
  killed(
    quick("shared/queue/memory-bus.test.ts"),
    "M8 a message is settled before it was handled",
    edit("shared/queue/attempt.ts", "await withDeadline((signal)", "void withDeadline((signal)"),
  ),
  killed(
    quick("test/dispatch/bookkeeping.test.ts"),
    "F14 the end of a Job is sent with all of it",
    edit(
      "manager/delivery/outbox.ts",
      'if (desired.desired !== "run") return { ...about, ...desired };',
      'if (desired.desired !== "run" && JSON.stringify(job).length > 1_572_864) throw new Error("too large"); if (desired.desired !== "run") return { ...about, ...desired };',
    ),
  ),
  mutant(
    "F17 a mirror's update names no UID",
    edit(
      "worker-agent/assignments/mirror-spec.ts",
      "{ metadata: { uid, annotations }, spec: { ...fields",
      "{ metadata: { annotations }, spec: { ...fields",
    ),
  ),
  killed(
    quick("manager/reports/accept.test.ts"),
    "the hub refuses indexes that it gave up",
    edit("manager/reports/accept.ts", "withinCompletions(job, report.status)", "report.status"),
  ),
  killed(
    quick("manager/reports/accept.test.ts"),
    "a Job may end before it started",
    edit("manager/reports/accept.ts", "inOrder(keepStartTime(", "((status: JobStatus) => status)(keepStartTime("),
  ),
  killed(
    quick("worker-agent/job-controller/core/backoff.test.ts"),
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
  mutant(
    "F5 M7 nobody is told of a later epoch, and an older one is followed",
    edit(STATE, "if (has !== undefined && delivery.epoch < has) return { state, newer: has };", ""),
  ),
  killed(
    quick("test/dispatch/bookkeeping.test.ts"),
    "F6 a stored number counts that its API server has not reached",
    edit("manager/hub/phase.ts", "if (Number(seq) > highest) return 0;", ""),
  ),
  mutant(
    "F7 a mirror goes when its last words were sent, not when they are stored",
    edit(
      DECIDE,
      'return owed ? { do: "answer", answer, mirror: current } : AWAIT;',
      'return owed ? { do: "answer", answer, mirror: current } : current === undefined ? AWAIT : deletion([current], "Foreground");',
    ),
  ),
  mutant(
    "F8 a mirror that the cache does not show is taken for absent",
    edit(DECIDE, "seenLeave || areRead ?", "true ?"),
  ),
  mutant(
    "F8 a refusal does not end the epoch",
    edit(
      "worker-agent/assignments/perform.ts",
      '{ state: { at: "over", epoch, revision, answer: { kind: "refused", ...arrived.refusal }, owed: true } }',
      '(await this.#answer(delivery.uid, epoch, { kind: "refused", ...arrived.refusal }, undefined), { state: "forgotten" as const })',
    ),
  ),
  mutant(
    "F10 the policy of the moment decides whether an agent is told to stop a Job",
    edit(
      "manager/delivery/outbox.ts",
      "...(stopAfterSeconds === undefined ? {} : { stopAfterSeconds }),",
      '...(stopAfterSeconds === undefined || metadata.annotations?.["jobferry.dev/on-cluster-lost"] !== "StopThenRedispatch" ? {} : { stopAfterSeconds }),',
    ),
  ),
  mutant(
    "F11 clusters that were never heard, or are lost, freeze the loss of others",
    edit("manager/clusters/silence.ts", "if (!silence.hasVoice) continue;", ""),
  ),
  mutant(
    "F13 a refusal is never forgotten",
    edit(
      "manager/placement/ledger.ts",
      "refusal.until > now && refusal.retry === retry",
      "refusal.until > 0 && now >= 0 && refusal.retry === retry",
    ),
  ),
  mutant(
    "F15 times are not translated between clocks",
    edit("manager/hub/times.ts", "if (ms === 0) return status;", "if (ms !== Number.NaN) return status;"),
  ),
  mutant(
    "F16 a conflict is tried again at once, in a hot loop",
    edit("manager/hub-job/reconcile.ts", "const CONFLICT_MS = 1_000;", "const CONFLICT_MS = 0;"),
  ),
  mutant(
    "F20 a mirror that is not seeded yet counts as up to date",
    edit("worker-agent/mirrors.ts", "isSeeded(mirror) ? Number(mirror.metadata", "true ? Number(mirror.metadata"),
  ),
  mutant(
    "M1 a report of an older epoch is stored",
    edit(
      "manager/reports/reports.ts",
      "assignment?.cluster === name && assignment.epoch === epoch",
      "assignment?.cluster === name && epoch > 0",
    ),
    edit("manager/reports/accept.ts", "if (assignment.epoch !== report.epoch)", "if (false)"),
  ),
  mutant(
    "M2 a report that is not new is stored",
    edit("manager/reports/accept.ts", "if (report.seq <= storedSeq)", "if (false)"),
  ),
  mutant(
    "M3 clusters that are silent at once are lost at once",
    edit("manager/clusters/silence.ts", "return silent * 2 > voices ||", "return silent * 2 > voices * 4 ||"),
  ),
  mutant(
    "F5 an epoch that a worker was heard to have is used again",
    edit("manager/hub/phase.ts", "this.#seen.get(uidOf(job)) ?? 0)", "0)"),
  ),
  mutant(
    "silence is counted while the shard of Redis with a cluster's queues is away",
    edit(
      "manager/manager.ts",
      "this.#transport.reachable && this.#membership.reaches(name)",
      "this.#transport.reachable || name === undefined",
    ),
  ),
  mutant(
    "M4 silence is counted while the managers cannot reach Redis",
    edit("manager/manager.ts", "this.#transport.reachable && this.#membership.reaches(name)", "true || name"),
    edit(
      "manager/clusters/clusters.ts",
      "if (this.frozen) return;",
      "if (this.frozen && reachable === undefined) return;",
    ),
  ),
  mutant(
    "M10 what earlier epochs achieved is not carried over",
    edit(
      "worker-agent/assignments/mirror-spec.ts",
      "if (carry === undefined) return undefined;",
      "if (carry !== null) return undefined;",
    ),
  ),
  mutant(
    "M13 a write of the hub has no lock against what was decided since",
    edit(
      "manager/hub/jobs.ts",
      "const body = { metadata: { ...metadata, resourceVersion, uid } };",
      "const body = { metadata: { ...metadata, uid } };",
    ),
  ),
  mutant(
    "M14 the epoch does not grow",
    edit("manager/hub/phase.ts", "epochSchema.safeParse(floor + 1)", "epochSchema.safeParse(Math.max(1, floor))"),
  ),
];
