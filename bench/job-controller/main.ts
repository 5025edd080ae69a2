/**
 * Our Job controller against kube-controller-manager's, on one API server, turn by turn. `npm run bench:job-controller` takes
 * about 25 minutes and writes docs/bench/job-controller.md; `--quick` takes seconds, `--rounds N`
 * changes how many turns each has, `--page FILE` writes elsewhere.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type LocalCluster, localCluster } from "@jobferry/test/harness/real-cluster.ts";
import { wrapProse } from "../../scripts/prose/wrap.ts";
import { type Contender, contenders, profiledJobferry } from "./contenders.ts";
import type { ContenderName, HotSpot, Turn, WorkFigures } from "./figures.ts";
import { page } from "./page.ts";
import { hotSpots } from "./profile.ts";
import { measureInSandbox } from "./sandbox-scale.ts";
import { fullSizes, quickSizes, type Sizes } from "./sizes.ts";
import { Workshop } from "./work.ts";

const say = (line: string): void => console.error(line);

class Match {
  readonly #cluster: LocalCluster;
  readonly #workshop: Workshop;
  readonly #sizes: Sizes;

  constructor(cluster: LocalCluster, workshop: Workshop, sizes: Sizes) {
    this.#cluster = cluster;
    this.#workshop = workshop;
    this.#sizes = sizes;
  }

  async turns(): Promise<Turn[]> {
    const turns: Turn[] = [];
    await this.#fill();
    for (let round = 0; round < this.#sizes.rounds; round++)
      for (const name of orderOf(round)) turns.push(await this.#turn(name));
    return turns;
  }

  /** An empty cluster is faster than it will ever be again, and one of the two would have it to itself. */
  async #fill(): Promise<void> {
    const { pods, parallelism } = this.#sizes;
    await this.#with(contenders["built-in"], async () => void (await this.#workshop.runJob({ pods, parallelism })));
  }

  async profile(): Promise<HotSpot[]> {
    const directory = join(this.#cluster.controlPlane.directory, "profile");
    await mkdir(directory);
    const { pods, parallelism } = this.#sizes;
    await this.#with(profiledJobferry(directory), async () => {
      await this.#workshop.runJob({ pods, parallelism });
    });
    return hotSpots(directory);
  }

  async #turn(name: ContenderName): Promise<Turn> {
    const { pods, parallelism, jobs, singles, warmUp } = this.#sizes;
    const workshop = this.#workshop;
    return this.#with(contenders[name], async (controller) => {
      await workshop.runJob({ pods: warmUp, parallelism });
      const oneJob = await workshop.measure(
        controller,
        async () => void (await workshop.runJob({ pods, parallelism })),
      );
      report(name, `${pods} pods of one Job`, oneJob);
      const manyJobs = await workshop.measure(controller, () => workshop.runManyJobs(jobs));
      report(name, `${jobs} Jobs`, manyJobs);
      const latenciesMs: number[] = [];
      const oneByOne = await workshop.measure(controller, async () => {
        for (let job = 0; job < singles; job++) latenciesMs.push(await workshop.runJob({ pods: 1, parallelism: 1 }));
      });
      report(name, `${singles} Jobs one after the other`, oneByOne);
      return { contender: name, oneJob, manyJobs, singles: { ...oneByOne, latenciesMs } };
    });
  }

  async #with<T>(start: Contender, use: (controller: ReturnType<Contender>) => Promise<T>): Promise<T> {
    const controller = start(this.#cluster);
    try {
      return await use(controller);
    } catch (error) {
      throw new Error(`${controller.name} failed:\n${(await controller.log()).slice(-3_000)}`, { cause: error });
    } finally {
      await controller.stop();
      await this.#workshop.clear();
    }
  }
}

/** Who goes first changes, because etcd fills up and the machine may grow slower or faster meanwhile. */
function orderOf(round: number): readonly ContenderName[] {
  return round % 2 === 0 ? ["built-in", "jobferry"] : ["jobferry", "built-in"];
}

function report(name: ContenderName, work: string, { seconds, cpuSeconds, writes }: WorkFigures): void {
  say(`${name}: ${work} in ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(2)} s CPU, ${JSON.stringify(writes)}`);
}

async function kubernetesVersion(cluster: LocalCluster): Promise<string> {
  const { json } = await cluster.request("/version");
  return (json as { gitVersion: string }).gitVersion;
}

async function measureAll(sizes: Sizes): Promise<Parameters<typeof page>[0]> {
  const began = new Date();
  const load = loadavg()[0] ?? 0;
  const { small, large, ...common } = sizes.sandbox;
  const sandbox = {
    small: await measureInSandbox({ ...common, pods: small }),
    large: await measureInSandbox({ ...common, pods: large }),
  };
  say(`sandbox: ${JSON.stringify(sandbox)}`);
  const cluster = await localCluster({ instantPods: true });
  const workshop = new Workshop(cluster);
  try {
    const match = new Match(cluster, workshop, sizes);
    const turns = await match.turns();
    const kubernetes = await kubernetesVersion(cluster);
    return { sizes, kubernetes, began, load, turns, sandbox, hotSpots: await match.profile() };
  } finally {
    await workshop.close();
    await cluster.stop();
  }
}

const { values: flags } = parseArgs({
  options: { quick: { type: "boolean" }, rounds: { type: "string" }, page: { type: "string" } },
});
const chosen = flags.quick === true ? quickSizes : fullSizes;
const sizes = flags.rounds === undefined ? chosen : { ...chosen, rounds: Number(flags.rounds) };
const findings = await readFile(join(import.meta.dirname, "findings.md"), "utf8");
const text = wrapProse(page(await measureAll(sizes), findings));
await writeFile(flags.page ?? join(import.meta.dirname, "../../docs/bench/job-controller.md"), text);
console.log(text);
