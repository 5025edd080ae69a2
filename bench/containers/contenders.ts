/** Who makes a Job run: each is started for its turn, does the same works on the same worker, and is stopped. */
import type { RealFleet } from "@jobferry/test/e2e/dispatch/real-fleet.ts";
import { localOf, usesOf, writesWhenQuiet } from "../dispatch/counters.ts";
import { oneByOne } from "../dispatch/turns.ts";
import { type Shape, Submitter } from "../dispatch/work.ts";
import { contenders as controllers } from "../job-controller/contenders.ts";
import { writesSince } from "../job-controller/counters.ts";
import { sum } from "../job-controller/figures.ts";
import { benchJob } from "../job-controller/work.ts";
import type { ContenderName, PodKind, Turn, Work } from "./figures.ts";

export interface Sizes {
  readonly rounds: number;
  readonly warmUp: number;
  readonly singles: number;
  readonly burst: number;
}

export interface BenchedFleet {
  readonly fleet: RealFleet;
  readonly pods: PodKind;
}

const CREATORS = 16;
const WORKER = "east";

const plain: Shape = (name) => benchJob(name, { pods: 1, parallelism: 1 });
const notShown: Shape = (name) => {
  const { metadata, ...job } = plain(name);
  return { ...job, metadata: { ...metadata, annotations: { "jobferry.dev/pods": "None" } } };
};

export async function turn(on: BenchedFleet, round: number, contender: ContenderName, sizes: Sizes): Promise<Turn> {
  const { fleet } = on;
  const worker = fleet.worker(WORKER);
  const isDispatched = contender.startsWith("dispatched");
  const controller = isDispatched ? undefined : start(fleet, contender);
  const pids = controller === undefined ? await pidsOfDispatch(fleet) : [controller.pid];
  const submitter = new Submitter(
    isDispatched ? fleet.hub.api : worker.api,
    isDispatched ? "dispatched" : "built-in",
    contender === "dispatched" ? notShown : plain,
  );
  try {
    await submitter.burst(sizes.warmUp, CREATORS);
    const times: { toPodMs: readonly number[]; toCompleteMs: readonly number[] } = { toPodMs: [], toCompleteMs: [] };
    const singles = await measure(fleet, pids, sizes.singles, async () => {
      const began = performance.now();
      Object.assign(times, await oneByOne(submitter, [worker.api], sizes.singles));
      return (performance.now() - began) / 1000;
    });
    const burst = await measure(fleet, pids, sizes.burst, () => submitter.burst(sizes.burst, CREATORS));
    return { pods: on.pods, round, contender, singles: { ...singles, ...times }, burst };
  } finally {
    await submitter.close();
    await controller?.stop(0);
  }
}

/** Jobs that nobody manages are theirs: manager and agent go on beside them, and have nothing to do. */
function start(fleet: RealFleet, contender: ContenderName) {
  const cluster = localOf(fleet.worker(WORKER));
  return controllers[contender === "built-in" ? "built-in" : "jobferry"](cluster);
}

async function pidsOfDispatch(fleet: RealFleet): Promise<number[]> {
  const redis = Number(/^process_id:(\d+)/m.exec(await fleet.redis.info("server"))?.[1]);
  return [fleet.process("manager").pid, fleet.process(WORKER).pid, redis];
}

async function measure(
  fleet: RealFleet,
  pids: readonly number[],
  jobs: number,
  work: () => Promise<number>,
): Promise<Work> {
  const cpu = async (): Promise<number> =>
    sum(Object.values(await usesOf({ all: pids })).map(({ cpuSeconds }) => cpuSeconds));
  const before = await writesWhenQuiet(fleet.hub, [fleet.worker(WORKER)]);
  const used = await cpu();
  const seconds = await work();
  const after = await writesWhenQuiet(fleet.hub, [fleet.worker(WORKER)]);
  return {
    jobs,
    seconds,
    hubWrites: writesSince(before.hub, after.hub),
    workerWrites: writesSince(before.workers, after.workers),
    cpuSeconds: (await cpu()) - used,
  };
}
