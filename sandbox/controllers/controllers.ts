import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { EventSink } from "../nodes/events.ts";
import type { KubeNode } from "../nodes/resources.ts";
import { CronJobController, OWNER_INDEX, ownerIndexer } from "./cronjob.ts";
import { PodGc } from "./pod-gc.ts";
import { TtlController } from "./ttl.ts";

export interface ControllersOptions {
  api: KubeApi;
  clock: Clock;
  /** Shared with the nodes; without them pods are not collected. */
  shared?: { pods: Reflector<Pod>; nodes: Reflector<KubeNode> };
  events?: EventSink<KubeObject>;
  random?: () => number;
  logger?: Logger;
}

/** The neighbours of the Job controller that a cluster needs (section 25): CronJobs, TTL after finished, pod collection. */
export class Controllers {
  readonly #jobs: Reflector<Job>;
  readonly #cronJobs: CronJobController;
  readonly #ttl: TtlController;
  readonly #podGc: PodGc | undefined;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ControllersOptions) {
    const { api, clock, random, logger, shared, events = () => {} } = options;
    const common = {
      api,
      clock,
      ...(random === undefined ? {} : { random }),
      ...(logger === undefined ? {} : { logger }),
    };
    this.#jobs = new Reflector({ ...common, resource: jobs, indexers: { [OWNER_INDEX]: ownerIndexer } });
    this.#cronJobs = new CronJobController({ ...common, jobs: this.#jobs, events });
    this.#ttl = new TtlController({ ...common, jobs: this.#jobs });
    this.#podGc = shared === undefined ? undefined : new PodGc({ ...common, ...shared });
  }

  async start(): Promise<void> {
    this.#ttl.start();
    this.#podGc?.start();
    this.#running = Promise.all([this.#jobs.start(this.#stopping.signal), this.#cronJobs.run(this.#stopping.signal)]);
    await this.#jobs.whenSynced();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#running, this.#ttl.stop(), this.#podGc?.stop()]);
  }
}
