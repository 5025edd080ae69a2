import type { Job } from "@jobferry/shared/job/types.ts";
import { configMaps, jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { Book, has, isOver } from "./book.ts";
import { Disturber } from "./disturb.ts";
import { Liveness } from "./liveness.ts";
import type { Plan } from "./plan.ts";
import { RulesOfRequests } from "./rules-of-requests.ts";
import { RulesOfState } from "./rules-of-state.ts";
import { RulesOfTime } from "./rules-of-time.ts";
import { isFault, lastsMs, type Step } from "./steps.ts";
import { type Blow, Striker } from "./striker.ts";
import { type RuleName, type Violation, Violations } from "./violations.ts";
import { KIND, Work } from "./work.ts";
import { NAMESPACE, RETENTION_MS, World } from "./world.ts";

export interface Result {
  readonly violations: readonly Violation[];
  readonly hash: string;
  readonly trace: readonly string[];
  readonly virtualMs: number;
  readonly tasks: number;
  /** Because of Jobs. */
  readonly writes: Readonly<Record<"manager" | "agent", number>>;
  /** Of the strikes that were asked for, those that came about. */
  readonly landed: number;
  /** Of each Job that was unfinished when the last fault was over: how long it then took until it was in order again. */
  readonly inOrderAfterMs: readonly number[];
}

/** A refusal is forgotten after ten minutes at most; what then still does not end never will. */
const LIMIT_MS = 20 * 60_000;
const LOOK_MS = 1_000;
/** A copy whose last mirror nobody saw leave is found in the next round of ten minutes. */
const SWEPT_MS = 11 * 60_000;

/**
 * One run of a plan: the faults and the work, then everything is mended, and the world is watched for a while. With `stopAt` it
 * is over as soon as that rule is broken.
 */
export async function runPlan(plan: Plan, stopAt?: RuleName, strikes: readonly Blow[] = []): Promise<Result> {
  const world = new World(plan.world);
  const { scheduler, trace } = world;
  const violations = new Violations(scheduler);
  const book = new Book(world);
  new RulesOfState(world, book, violations);
  const time = new RulesOfTime(world, book, violations);
  const striker = new Striker(world, new RulesOfRequests(world, book, violations), strikes);
  world.observer = striker;
  const work = new Work(world, book, time);
  const liveness = new Liveness(world, book);
  const disturber = new Disturber(world, book);
  const act = (step: Step): void => {
    const { at: _, ...what } = step;
    trace.say(`>> ${JSON.stringify(what)}`);
    if (isFault(what)) disturber.do(what);
    else
      work.do(what).catch((error: unknown) => trace.say(`${what.do} came to nothing: ${String(error).slice(0, 200)}`));
  };
  try {
    await world.start();
    for (const step of plan.steps) scheduler.at(step.at, step.do, () => act(step));
    const look = (): void => {
      time.look();
      liveness.look();
      scheduler.at(LOOK_MS, "look", look);
    };
    look();
    const calmAt = Math.max(0, ...plan.steps.map((step) => step.at + lastsMs(step))) + 100;
    const enough = (): boolean => stopAt !== undefined && violations.list.at(-1)?.rule === stopAt;
    const allOver = (): boolean =>
      [...book.hubJobs.values()].every(({ gone, finishedAt }) => gone || finishedAt !== undefined);
    await scheduler.run(calmAt, enough);
    trace.say(">> all faults are over");
    if (!enough()) await resumeAll(world);
    liveness.start();
    const calmSince = scheduler.elapsed;
    if (!enough()) await scheduler.run(LIMIT_MS + 2_000 * plan.world.lostAfterSeconds, () => enough() || allOver());
    const lingerMs = RETENTION_MS + (plan.world.copies === true ? SWEPT_MS : 60_000);
    if (!enough()) await scheduler.run(lingerMs, enough);
    // A cluster that was lost has time to come back, and to do then what it must not.
    const watchedMs = scheduler.elapsed - calmSince;
    if (!enough()) await scheduler.run(Math.max(0, 2_000 * plan.world.lostAfterSeconds - watchedMs), enough);
    if (!enough()) await judgeEnding(world, book, violations);
  } catch (error) {
    violations.add("the world goes on", "world", String((error as Error).stack).slice(0, 600));
  }
  for (const program of world.programs()) program.kill();
  return {
    violations: violations.list,
    hash: trace.hash,
    trace: trace.lines(),
    virtualMs: scheduler.elapsed,
    tasks: trace.pulses,
    writes: striker.counts,
    landed: striker.landed,
    inOrderAfterMs: liveness.inOrderAfterMs(),
  };
}

async function resumeAll(world: World): Promise<void> {
  const api = world.apiOf("hub");
  const { items } = await world.scheduler.drive(api.list(jobs, { namespace: NAMESPACE }));
  for (const { metadata, spec } of items) {
    if (spec.suspend !== true) continue;
    const key = { namespace: NAMESPACE, name: metadata.name ?? "" };
    await world.scheduler.drive(
      api.patch(jobs, key, { type: "merge", body: { spec: { suspend: false } } }).catch(() => {}),
    );
  }
}

async function judgeEnding(world: World, book: Book, violations: Violations): Promise<void> {
  for (const { gone, name, job, deletingSince, completions } of book.hubJobs.values()) {
    if (gone) continue;
    if (deletingSince !== undefined && !isOver(job)) violations.add("deletion ends", name, "hangs in deletion");
    else if (!endedWell(job, completions)) violations.add("every Job ends as it should", name, describe(job));
  }
  for (const { metadata, status } of (await world.scheduler.drive(world.apiOf("hub").list(pods, {}))).items) {
    const owner = book.hubJobs.get(metadata.ownerReferences?.[0]?.uid ?? "");
    const phase = status?.phase ?? "";
    if (owner === undefined || owner.gone)
      violations.add("nothing is left behind", `hub/${metadata.name}`, "a shown pod is left");
    else if (!owner.gone && phase !== "Succeeded" && phase !== "Failed")
      violations.add("shown pods end", `hub/${metadata.name}`, `${phase} although ${owner.name} is over`);
  }
  for (const [name, { cluster }] of world.workers) {
    for (const { metadata } of (await world.scheduler.drive(cluster.api.list(jobs, {}))).items)
      if (metadata.labels?.["jobferry.dev/hub-uid"] !== undefined)
        violations.add("nothing is left behind", `${name}/${metadata.name}`, "a mirror is left");
    for (const { metadata } of (await world.scheduler.drive(cluster.api.list(configMaps, {}))).items)
      if (metadata.labels?.["jobferry.dev/copy"] !== undefined)
        violations.add("nothing is left behind", `${name}/${metadata.name}`, "a copy is left");
    for (const { metadata } of (await world.scheduler.drive(cluster.api.list(pods, {}))).items)
      if (metadata.finalizers?.includes("batch.kubernetes.io/job-tracking"))
        violations.add("nothing is left behind", `${name}/${metadata.name}`, "a pod is left with its finalizer");
  }
}

function endedWell(job: Job, completions: ReadonlySet<number>): boolean {
  if (job.metadata.annotations?.[KIND] === "failing") return has(job, "Failed");
  return has(job, "Complete") && completions.has(job.status?.succeeded ?? 0);
}

const describe = ({ metadata: { annotations = {} }, status }: Job): string =>
  `${JSON.stringify(status)} on ${annotations["jobferry.dev/cluster"]}, epoch ${annotations["jobferry.dev/epoch"]}: ${annotations["jobferry.dev/message"]}`;
