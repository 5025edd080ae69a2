/** `jobferry up --demo`: submits the examples to the hub, plays with them, and tells how they ended. */

import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { parse } from "yaml";
import { packagedFile } from "../files.ts";
import { type Example, LAST, type Stage, TOGETHER } from "./examples.ts";
import { type Row, rowOf } from "./row.ts";
import { differences, History } from "./verdict.ts";

const NAMESPACE = "default";
/** Far more than it takes; a demo must not hang. */
const LIMIT_MS = 240_000;

export interface DemoView {
  show(row: Row): void;
  say(text: string): void;
}

export interface DemoOptions {
  hub: KubeApi;
  agents: { stop(worker: string): Promise<void>; start(worker: string): void };
  view: DemoView;
  logger: Logger;
  signal: AbortSignal;
}

export interface Outcome {
  readonly name: string;
  readonly shows: string;
  /** Empty: as expected. */
  readonly differences: readonly string[];
}

export async function runDemo(options: DemoOptions): Promise<Outcome[]> {
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  const cancelLimit = realClock.after(LIMIT_MS, () => end.abort());
  const demo = new Demo(options, signal);
  const watching = demo.watch();
  try {
    await Promise.all(TOGETHER.map((example) => demo.play(example)));
    await demo.play(LAST);
    return [...TOGETHER, LAST].map((example) => demo.judge(example));
  } finally {
    cancelLimit();
    end.abort();
    await watching;
  }
}

interface Waiter {
  readonly name: string;
  readonly what: (job: Job) => boolean;
  readonly resolve: (job: Job) => void;
}

class Demo {
  readonly #options: DemoOptions;
  readonly #signal: AbortSignal;
  readonly #histories = new Map<string, History>();
  readonly #waiters = new Set<Waiter>();
  readonly #ended: Promise<undefined>;

  constructor(options: DemoOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#ended = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true }));
  }

  async watch(): Promise<void> {
    const { hub, logger } = this.#options;
    const reflector = new Reflector({ api: hub, resource: jobs, namespace: NAMESPACE, clock: realClock, logger });
    reflector.addHandler({ added: (job) => this.#seen(job), updated: (_, job) => this.#seen(job) });
    await reflector.start(this.#signal);
  }

  /** Returns when the Job has ended, or the demo has. */
  async play(example: Example): Promise<void> {
    if (this.#signal.aborted) return;
    const manifest = parse(packagedFile(`cli/up/demo/${example.name}.yaml`)) as Job;
    this.#histories.set(example.name, new History());
    await this.#options.hub.create(jobs, NAMESPACE, manifest);
    const stage = this.#stage(example.name);
    await Promise.race([Promise.all([example.act?.(stage), stage.until(isFinished)]), this.#ended]);
  }

  judge({ name, shows, ending }: Example): Outcome {
    return { name, shows, differences: differences(ending, this.#histories.get(name) ?? new History()) };
  }

  #stage(name: string): Stage {
    const { hub, agents, view } = this.#options;
    return {
      until: (what) => this.#until(name, what),
      suspend: async (suspend) => {
        await hub.patch(jobs, { namespace: NAMESPACE, name }, { type: "merge", body: { spec: { suspend } } });
      },
      cutOff: (worker) => agents.stop(worker),
      reconnect: (worker) => agents.start(worker),
      say: (text) => view.say(text),
    };
  }

  #until(name: string, what: (job: Job) => boolean): Promise<Job> {
    const last = this.#histories.get(name)?.last;
    if (last !== undefined && what(last)) return Promise.resolve(last);
    return new Promise((resolve) => this.#waiters.add({ name, what, resolve }));
  }

  #seen(job: Job): void {
    const { name = "" } = job.metadata;
    const history = this.#histories.get(name);
    if (history === undefined) return;
    history.record(job);
    this.#options.view.show(rowOf(job));
    for (const waiter of this.#waiters) {
      if (waiter.name !== name || !waiter.what(job)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(job);
    }
  }
}
