import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { EventSink } from "../nodes/events.ts";
import type { KubeNode } from "../nodes/resources.ts";
import { CronJobController, OWNER_INDEX, ownerIndexer } from "./cronjob.ts";
import { PodGc } from "./pod-gc.ts";
import { cronJobs } from "./resources.ts";
import { TtlController } from "./ttl.ts";

export interface ControllersOptions {
  api: KubeApi;
  clock: Clock;
  /** Shared with the nodes; without them pods are not collected. */
  shared?: { pods: Reflector<Pod>; nodes: Reflector<KubeNode> };
  /** Where events about CronJobs go; to the API server unless given. */
  events?: EventSink<KubeObject>;
  random?: () => number;
  logger?: Logger;
}

/** Events are a courtesy: they get this long to leave when the controllers stop. */
const EVENT_FLUSH_MS = 200;

/** The neighbours of the Job controller that a cluster needs (section 25): CronJobs, TTL after finished, pod collection. */
export class Controllers {
  readonly #jobs: Reflector<Job>;
  readonly #cronJobs: CronJobController;
  readonly #ttl: TtlController;
  readonly #podGc: PodGc | undefined;
  readonly #recorder: EventRecorder;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ControllersOptions) {
    const { api, clock, random, logger, shared } = options;
    const common = {
      api,
      clock,
      ...(random === undefined ? {} : { random }),
      ...(logger === undefined ? {} : { logger }),
    };
    this.#jobs = new Reflector({ ...common, resource: jobs, indexers: { [OWNER_INDEX]: ownerIndexer } });
    const recorder = new EventRecorder({ ...common, component: "cronjob-controller" });
    this.#recorder = recorder;
    const record: EventSink<KubeObject> = (object, type, reason, message) =>
      recorder.record(cronJobs, object, type, reason, message);
    this.#cronJobs = new CronJobController({ ...common, jobs: this.#jobs, events: options.events ?? record });
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
    await this.#recorder.stop(EVENT_FLUSH_MS);
  }
}
