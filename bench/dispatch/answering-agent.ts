/** A worker without a cluster: it answers every assignment with Complete, so that what is measured is the manager's work. */
import type { JobStatus } from "@jobferry/shared/job/types.ts";
import type { Delivery, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { parseOwnKeys, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { parseRedisConfig } from "@jobferry/shared/queue/redis-config.ts";
import { type AgentTransport, agentTransport } from "@jobferry/shared/queue/transport.ts";
import { realClock, timestamp } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import type { Enrolled } from "./enrol.ts";

const HEARTBEAT_MS = 5_000;
const START_MS = 10_000;
const STOP_MS = 1_000;
const ROOM = { cpu: "1000000", memory: "1000Ti", pods: "1000000" };

export class AnsweringAgent {
  readonly #bus: RedisBus;
  readonly #transport: AgentTransport;
  /** The assignment that has not been answered yet; the cluster takes one at a time. */
  #held: RunDelivery | undefined;
  readonly #managerKey: string;
  #toAnswer = 0;
  #seq = 0;
  #taken = (): void => {};
  #heartbeats: NodeJS.Timeout | undefined;

  constructor({ name, key, managerKey, redisUrl }: Enrolled) {
    this.#managerKey = managerKey;
    this.#bus = new RedisBus({
      config: parseRedisConfig({ url: redisUrl }),
      clock: realClock,
      logger: silentLogger,
      agentOf: parseClusterName(name),
    });
    this.#transport = agentTransport({
      bus: this.#bus,
      cluster: parseClusterName(name),
      keys: parseOwnKeys(key),
      managerKeys: [parsePublicKey(managerKey)],
    });
  }

  async start(): Promise<void> {
    await this.#bus.start(START_MS);
    this.#transport.onDelivery((delivery) => this.#take(delivery));
    await this.#greet("hello");
    this.#heartbeats = setInterval(() => void this.#greet("heartbeat").catch(() => {}), HEARTBEAT_MS);
  }

  /** Answers the assignment it holds and those that follow, `count` in all; resolves when it holds one again. */
  async answer(count: number): Promise<void> {
    await this.holding();
    this.#toAnswer = count;
    const done = this.#next();
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#complete(held);
    await done;
  }

  /** Resolves when it has an assignment. */
  async holding(): Promise<void> {
    if (this.#held === undefined) await this.#next();
  }

  async stop(): Promise<void> {
    clearInterval(this.#heartbeats);
    await this.#bus.close(STOP_MS);
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#taken = resolve;
    });
  }

  async #take(delivery: Delivery): Promise<void> {
    if (delivery.kind !== "assignment" || delivery.desired !== "run" || delivery.uid === this.#held?.uid) return;
    if (this.#toAnswer > 0) return this.#complete(delivery);
    this.#held = delivery;
    this.#taken();
  }

  async #complete({ uid, epoch }: RunDelivery): Promise<void> {
    this.#toAnswer--;
    await this.#transport.sendReport({
      ...{ kind: "status", uid, epoch, seq: ++this.#seq },
      status: completeStatus(timestamp(realClock.now())),
    });
  }

  async #greet(kind: "hello" | "heartbeat"): Promise<void> {
    await this.#transport.sendReport({
      ...{
        kind,
        clusterID: "bench",
        agentVersion: "bench",
        kubernetesVersion: "v1.36.3",
        stamp: `bench:${Math.ceil(performance.now() * 1000)}`,
      },
      ...{ resourceVersion: Math.max(1, this.#seq), managerKeys: [this.#managerKey] },
      ...{ capacity: ROOM, free: ROOM, largestFreeNode: ROOM, largestNode: ROOM },
    });
  }
}

function completeStatus(now: string): JobStatus {
  const condition = { status: "True", lastProbeTime: now, lastTransitionTime: now } as const;
  const reached = { reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
  return {
    startTime: now,
    completionTime: now,
    succeeded: 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
    conditions: [
      { type: "SuccessCriteriaMet", ...condition, ...reached },
      { type: "Complete", ...condition, ...reached },
    ],
  };
}
