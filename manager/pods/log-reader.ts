import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import { ProtocolError } from "@jobferry/shared/protocol/errors.ts";
import {
  BUSY_CREDIT_BYTES,
  CREDIT_BYTES,
  type LogRefusal,
  newStreamSecret,
  PieceSeal,
  readRefusal,
  type StreamSecret,
  streamOf,
} from "@jobferry/shared/protocol/log-frames.ts";
import type { ClusterName, Epoch, HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Lanes } from "@jobferry/shared/queue/lanes.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

/** A log that cannot be read, or not to its end. */
export class LogError extends Error {
  override readonly name = "LogError";
  /** As HTTP has them. */
  readonly code: number;

  constructor({ code, message }: LogRefusal) {
    super(message);
    this.code = code;
  }
}

/** The pod on a worker whose log is wanted. */
export interface LogTarget {
  readonly cluster: ClusterName;
  readonly uid: HubUid;
  readonly epoch: Epoch;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly container: string;
}

export interface LogReaderOptions {
  readonly lanes: Lanes;
  /** Asks the agent of this cluster. */
  ask(cluster: ClusterName, asked: ReadLog | ListPods): Promise<void>;
  readonly clock: Clock;
}

const START_MS = 15_000;
const ALIVE_MS = 10_000;
const SILENT_MS = 35_000;
const JOINED_BYTES = 4_096;

/** One log that is being read. What has come and was not read yet is bounded by the window that the agent has. */
class Reading {
  readonly #frames: PieceSeal;
  readonly #credits: PieceSeal;
  readonly #push: (piece: Buffer) => Promise<void>;
  readonly #started = Promise.withResolvers<void>();
  #queue: Buffer[] = [];
  #read = 0;
  #end: LogError | "end" | undefined;
  #isUnwanted = false;
  #wake: (() => void) | undefined;
  #heardAt: number;

  constructor(secret: StreamSecret, push: (piece: Buffer) => Promise<void>, now: number) {
    this.#frames = new PieceSeal(secret, "frames");
    this.#credits = new PieceSeal(secret, "credits");
    this.#push = push;
    this.#heardAt = now;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  hear(piece: Buffer, now: number): void {
    this.#heardAt = now;
    const { kind, said } = this.#frames.open(piece);
    if (kind === "start") this.#started.resolve();
    if (kind === "data") this.#keep(said);
    if (kind === "end") this.#finish("end");
    if (kind === "error") this.fail(readRefusal(said));
    this.#wake?.();
  }

  /** Short lines are joined while nobody reads: thousands of small buffers would take more room than what they say. */
  #keep(said: Buffer): void {
    const last = this.#queue.at(-1);
    if (last === undefined || last.length + said.length > JOINED_BYTES) this.#queue.push(said);
    else this.#queue[this.#queue.length - 1] = Buffer.concat([last, said]);
  }

  isSilent(now: number): boolean {
    return now - this.#heardAt > SILENT_MS;
  }

  fail(refusal: LogRefusal): void {
    this.#finish(new LogError(refusal));
  }

  alive(): Promise<void> {
    return this.#push(this.#credits.seal("alive"));
  }

  /** Tells the agent that nobody reads any more, unless it has ended by itself. */
  async stop(): Promise<void> {
    if (this.#end === undefined) await this.#push(this.#credits.seal("stop"));
  }

  /** Nobody reads any more. */
  leave(): void {
    this.#isUnwanted = true;
    this.#wake?.();
  }

  /** A chunk counts as read when the next one is asked for. */
  async *chunks(): AsyncGenerator<Buffer> {
    while (!this.#isUnwanted) {
      const chunk = this.#queue.shift();
      if (chunk !== undefined) {
        yield chunk;
        this.#grant(chunk.length);
      } else if (this.#end === undefined)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      else if (this.#end === "end") return;
      else throw this.#end;
    }
  }

  #grant(bytes: number): void {
    this.#read += bytes;
    const least = this.#queue.length > 0 ? BUSY_CREDIT_BYTES : CREDIT_BYTES;
    if (this.#read < least || this.#end !== undefined) return;
    const said = Buffer.alloc(4);
    said.writeUInt32BE(this.#read);
    this.#read = 0;
    this.#push(this.#credits.seal("credit", said)).catch(() => this.fail(redisLost));
  }

  #finish(end: LogError | "end"): void {
    this.#end ??= end;
    if (end === "end") this.#started.resolve();
    else this.#started.reject(end);
    this.#wake?.();
  }
}

/** Reads logs of pods on workers: asks their agents, who send them in pieces through Redis. */
export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #open = new Map<string, { reading: Reading; cluster: ClusterName }>();
  /** Of every cluster that was asked once: a connection that is being closed could swallow a piece of the next log. */
  readonly #listening = new Map<ClusterName, { stop(): Promise<void> }>();
  #unsubscribe: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  /** Logs that are being read. */
  get size(): number {
    return this.#open.size;
  }

  /** Resolves when the log begins; rejects with LogError if there is none. It ends early when `signal` aborts. */
  read({ cluster, ...about }: LogTarget, options: LogOptions, signal?: AbortSignal): Promise<AsyncGenerator<Buffer>> {
    return this.#ask(cluster, { kind: "read-log", ...about, options }, signal);
  }

  /** The Job's pods on its cluster, as lines of JSON. */
  list(
    { cluster, uid, epoch }: Pick<LogTarget, "cluster" | "uid" | "epoch">,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Buffer>> {
    return this.#ask(cluster, { kind: "list-pods", uid, epoch }, signal);
  }

  async #ask(
    cluster: ClusterName,
    asked: Omit<ReadLog, keyof StreamSecret> | Omit<ListPods, keyof StreamSecret>,
    signal?: AbortSignal,
  ): Promise<AsyncGenerator<Buffer>> {
    const { lanes, clock } = this.#options;
    const secret = newStreamSecret();
    const push = (piece: Buffer): Promise<void> => lanes.push({ cluster, lane: "log-credits" }, piece);
    const reading = new Reading(secret, push, clock.monotonic());
    this.#open.set(secret.stream, { reading, cluster });
    this.#listen(cluster);
    const cancel = clock.after(START_MS, () => reading.fail(noAnswer(cluster)));
    try {
      // The promise may fail before anybody waits for it.
      reading.started.catch(() => {});
      await this.#options.ask(cluster, { ...asked, ...secret }).catch((cause: unknown) => {
        const message = `cluster ${cluster} cannot be asked now: ${(cause as Error).message}`;
        throw new LogError({ code: 503, message });
      });
      await reading.started;
    } catch (error) {
      await this.#close(secret.stream, reading);
      throw error;
    } finally {
      cancel();
    }
    signal?.addEventListener("abort", () => reading.leave(), { once: true });
    if (signal?.aborted === true) reading.leave();
    return this.#chunks(secret.stream, reading);
  }

  /** Another manager leads from now on. */
  handOver(): void {
    for (const { reading } of this.#open.values()) reading.fail(handedOver);
  }

  /** Ends every reading. */
  async stop(): Promise<void> {
    this.handOver();
    await Promise.all([...this.#listening.values()].map((listening) => listening.stop()));
    this.#listening.clear();
    this.#unsubscribe?.();
    this.#cancelTick?.();
  }

  async *#chunks(stream: string, reading: Reading): AsyncGenerator<Buffer> {
    try {
      yield* reading.chunks();
    } finally {
      await this.#close(stream, reading);
    }
  }

  async #close(stream: string, reading: Reading): Promise<void> {
    this.#open.delete(stream);
    await reading.stop().catch(() => {});
  }

  #listen(cluster: ClusterName): void {
    const { lanes, clock } = this.#options;
    if (!this.#listening.has(cluster))
      this.#listening.set(
        cluster,
        lanes.listen({ cluster, lane: "log-frames" }, (piece) => this.#hear(cluster, piece)),
      );
    this.#unsubscribe ??= lanes.onLost(() => {
      for (const { reading } of this.#open.values()) reading.fail(redisLost);
    });
    this.#cancelTick ??= clock.after(ALIVE_MS, () => this.#tick());
  }

  #hear(cluster: ClusterName, piece: Buffer): void {
    const open = this.#open.get(streamOf(piece));
    // A cluster can speak for its own streams alone.
    if (open === undefined || open.cluster !== cluster) return;
    try {
      open.reading.hear(piece, this.#options.clock.monotonic());
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      open.reading.fail({ code: 502, message: `the log of cluster ${cluster} broke off: ${error.message}` });
    }
  }

  #tick(): void {
    const { clock } = this.#options;
    this.#cancelTick = undefined;
    for (const { reading, cluster } of this.#open.values()) {
      if (reading.isSilent(clock.monotonic())) reading.fail(noAnswer(cluster));
      else reading.alive().catch(() => reading.fail(redisLost));
    }
    if (this.#open.size > 0) this.#cancelTick = clock.after(ALIVE_MS, () => this.#tick());
  }
}

const noAnswer = (cluster: string): LogRefusal => ({
  code: 504,
  message: `the agent of cluster ${cluster} does not answer: look at jobferry cluster list`,
});
const redisLost: LogRefusal = {
  code: 502,
  message: "the connection to Redis was lost while the log was read: read it again",
};
const handedOver: LogRefusal = { code: 503, message: "another manager takes over: read the log again" };
