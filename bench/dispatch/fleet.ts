/** The fleet that is measured: a hub, two workers and a Redis, all real, with manager and agents as processes. */
import { join } from "node:path";
import { RealFleet } from "@jobferry/test/e2e/dispatch/real-fleet.ts";
import type { RealCluster } from "@jobferry/test/harness/real-cluster-options.ts";
import { writesSince } from "../job-controller/counters.ts";
import { localOf, type Pids, pidsOf, usedSince, usesOf, writesWhenQuiet } from "./counters.ts";
import type { Cost, Figures } from "./figures.ts";
import { partsOf } from "./profile.ts";

const STOP_MS = 10_000;

export class BenchFleet {
  readonly real: RealFleet;
  #redisPid = 0;

  constructor(workers: readonly string[]) {
    // Both are the defaults. Finished mirrors stay for ten minutes: they are not cleaned up while we measure.
    const agentFlags = ["--retention-seconds", "600", "--mirror-events", "warnings"];
    this.real = new RealFleet({ workers, agentFlags, withoutControllers: true, logLevel: "info" });
  }

  async start(): Promise<this> {
    await this.real.start();
    await this.real.until("the manager runs", async () => (await this.#managerUrl()) !== undefined);
    this.#redisPid = Number(/^process_id:(\d+)/m.exec(await this.real.redis.info("server"))?.[1]);
    return this;
  }

  get workers(): RealCluster[] {
    return [...this.real.workers.values()];
  }

  async versions(): Promise<{ kubernetes: string; redis: string }> {
    const { json } = await this.real.hub.request("/version");
    const redis = /^redis_version:(\S+)/m.exec(await this.real.redis.info("server"))?.[1] ?? "unknown";
    return { kubernetes: (json as { gitVersion: string }).gitVersion, redis };
  }

  get pids(): Pids {
    const { real } = this;
    const workers = this.workers.map(pidsOf);
    return {
      manager: [real.process("manager").pid],
      agents: [...real.workers.keys()].map((name) => real.process(name).pid),
      redis: [this.#redisPid],
      hub: pidsOf(real.hub).apiServer,
      workers: workers.flatMap(({ apiServer }) => apiServer),
      kubelets: workers.flatMap(({ kubelet }) => kubelet),
      "this program": [process.pid],
    };
  }

  /** Jobs that wait for a cluster, by the manager's own count. */
  async jobsWaiting(): Promise<number> {
    const metrics = await (await fetch(`${await this.#managerUrl()}/metrics`)).text();
    return Number(/^jobferry_pending_jobs\{queue="default"\} (\d+)/m.exec(metrics)?.[1]);
  }

  /** Where it serves its metrics, from its log. */
  async #managerUrl(): Promise<string | undefined> {
    return /"status":"(http[^"]+)"/.exec(await this.real.log("manager"))?.[1];
  }

  /** What `work` costs everybody; `seconds` is what it says itself. */
  async measure(jobs: number, work: () => Promise<number>): Promise<Cost> {
    const { hub } = this.real;
    const before = await writesWhenQuiet(hub, this.workers);
    const used = await usesOf(this.pids);
    const seconds = await work();
    const after = await writesWhenQuiet(hub, this.workers);
    return {
      jobs,
      seconds,
      hubWrites: writesSince(before.hub, after.hub),
      workerWrites: writesSince(before.workers, after.workers),
      uses: usedSince(used, await usesOf(this.pids)),
    };
  }

  /** Starts manager and agents anew under the profiler, for one work; they are stopped afterwards. */
  async profile(work: () => Promise<unknown>): Promise<Figures["profiles"]> {
    const { directory } = localOf(this.real.hub).controlPlane;
    const names = [...this.real.workers.keys()];
    const [profiled = ""] = names;
    const into = (part: string) => ["--cpu-prof", "--cpu-prof-interval=500", `--cpu-prof-dir=${join(directory, part)}`];
    const stopAll = async (): Promise<void> => {
      await Promise.all(["manager", ...names].map((name) => this.real.process(name).stop(STOP_MS)));
    };
    await stopAll();
    this.real.startManager("manager", into("manager"));
    for (const name of names) this.real.startAgent(name, name === profiled ? into("agent") : []);
    await work();
    await stopAll();
    return { manager: await partsOf(join(directory, "manager")), agent: await partsOf(join(directory, "agent")) };
  }

  async stop(): Promise<void> {
    await this.real.stop();
  }
}
