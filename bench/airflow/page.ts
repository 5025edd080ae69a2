/** The page that a run writes. */
import { cpus, totalmem } from "node:os";
import { RETRIES, type TaskOutcome } from "@jobferry/test/e2e/tooling/airflow.ts";
import { percentile } from "../dispatch/figures.ts";
import { round } from "../dispatch/goals.ts";

export interface Burst {
  /** With RETRIES, else with the operator's default of 3. */
  readonly patient: boolean;
  readonly jobs: number;
  readonly seconds: number;
  readonly outcomes: readonly TaskOutcome[];
}

export interface Figures {
  readonly began: Date;
  readonly tookSeconds: number;
  /** One minute's load average at the start. */
  readonly load: number;
  readonly kubernetes: string;
  readonly idle: readonly TaskOutcome[];
  readonly bursts: readonly Burst[];
}

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const succeeded = (outcomes: readonly TaskOutcome[]): number =>
  outcomes.filter(({ outcome }) => outcome === "success").length;
const of = (outcomes: readonly TaskOutcome[]): string => `${succeeded(outcomes)} of ${outcomes.length}`;
const met = (value: boolean): string => (value ? "yes" : "**no**");
const seconds = (outcomes: readonly TaskOutcome[], share: number): string =>
  round(
    percentile(
      outcomes.map((each) => each.seconds),
      share,
    ),
    1,
  );

/** Each sentence of the failures once, without the names in it; of an answer of the API server, what it says. */
function failures(outcomes: readonly TaskOutcome[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of outcomes) {
    if (outcome === "success") continue;
    const said = /"message":"((?:[^"\\]|\\.)*)"/.exec(outcome)?.[1] ?? outcome.replace(/ with labels .*/s, "");
    const sentence = said
      .replaceAll(/\S*task-\d+\S*/g, "NAME")
      .replaceAll(/\s+/g, " ")
      .slice(0, 200);
    counts.set(sentence, (counts.get(sentence) ?? 0) + 1);
  }
  return [...counts].map(([sentence, count]) => `${count} x ${sentence}`).join("; ");
}

export function page({ began, tookSeconds, load, kubernetes, idle, bursts }: Figures, findings: string): string {
  const during = (patient: boolean): TaskOutcome[] =>
    bursts.filter((burst) => burst.patient === patient).flatMap(({ outcomes }) => outcomes);
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? "CPU"}, ${round(totalmem() / 2 ** 30)} GiB`;
  const jobs = round(bursts[0]?.jobs ?? 0);
  const turns = bursts.map(({ patient, jobs, seconds: took, outcomes }, index) =>
    row(
      ...[String(index + 1), patient ? round(RETRIES) : "3 (default)", `${round(jobs)} in ${round(took, 1)} s`],
      ...[of(outcomes), seconds(outcomes, 0.5), seconds(outcomes, 1), failures(outcomes)],
    ),
  );
  return `# Airflow on the hub

Written by \`npm run bench:airflow\` on ${began.toISOString().slice(0, 16).replace("T", " ")} UTC (it took ${round(tookSeconds)} s): ${machine}, Node ${process.version}, Kubernetes ${kubernetes}; load average at the start ${round(load, 1)}. Hub, one worker (API server, etcd and a stand-in for scheduler and kubelet that finishes pods at once and serves their logs), Redis, manager, agent, Airflow and this program share the machine.

Tasks of \`KubernetesJobOperator\`, whole and unchanged, with \`wait_until_job_complete=True\` and \`get_logs=True\`, one at a time, each with a Job of one pod. All else is the operator's default but \`job_poll_interval\` (0.2 s instead of 10 s: how often it looks whether the Job is complete after it has found its pods).

| measure | measured | wanted | met |
|---|---|---|---|
${row("idle hub, defaults: tasks that succeed", of(idle), "99 of 100", met(succeeded(idle) >= 0.99 * idle.length))}
${row(`during bursts of ${jobs} other Jobs, defaults`, of(during(false)), "", "")}
${row(`the same with \`discover_pods_retry_number=${RETRIES}\``, of(during(true)), "all", met(succeeded(during(true)) === during(true).length))}

On the idle hub a task took ${seconds(idle, 0.5)} s (p50), ${seconds(idle, 1)} s at most. ${failures(idle)}

## Each burst
${jobs} Jobs are created on the hub, ${16} at a time; tasks run one after the other until all of these Jobs are complete.

| burst | discover_pods_retry_number | other Jobs | tasks that succeed | p50, s | longest, s | why others failed |
|---|---|---|---|---|---|---|
${turns.join("\n")}

${findings.trim()}
`;
}
