import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { PodLogs } from "@jobferry/shared/kube/pod-logs.ts";
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import {
  type LogRefusal,
  PieceSeal,
  pieceBytes,
  type StreamSecret,
  sayRefusal,
  streamOf,
  windowBytes,
} from "@jobferry/shared/protocol/log-frames.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Lanes } from "@jobferry/shared/queue/lanes.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { Slots } from "@jobferry/shared/runtime/slots.ts";
import type { MirrorPods } from "./mirror-pods.ts";

export interface LogSenderOptions {
  readonly logs: PodLogs;
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly cluster: ClusterName;
  readonly pods: Pick<MirrorPods, "find" | "list">;
}

/** At a time. With their windows they bound what Redis holds of this cluster's logs. */
const MAX_STREAMS = 256;
/** Each side says this often that it is there, and gives the other up after it was silent for longer. */
const ALIVE_MS = 10_000;
const SILENT_MS = 35_000;

/** Whole pieces of one log on their way to Redis. More would not go faster. */
const MAX_PUSHES = 4;
/** Pieces of all logs. Where many are read, they wait here and grow: each piece has its price, whatever its size. */
const MAX_PUSHES_OF_ALL = 8;

/** One log that somebody on the hub reads. */
class Sending {
  readonly #frames: PieceSeal;
  readonly #credits: PieceSeal;
  readonly #push: (piece: Buffer) => Promise<void>;
  /** How much of it may be on its way now. */
  readonly #window: () => number;
  readonly abort = new AbortController();
  /** Sent, and not read yet as far as the reader has said. */
  #unread = 0;
  #pushes = 0;
  #heardAt: number;
  #wake: (() => void) | undefined;

  constructor(request: StreamSecret, push: (piece: Buffer) => Promise<void>, window: () => number, now: number) {
    this.#frames = new PieceSeal(request, "frames");
    this.#credits = new PieceSeal(request, "credits");
    this.#push = push;
    this.#window = window;
    this.#heardAt = now;
  }

  /** After all that was sent before: pieces of one connection stay in order. */
  send(kind: "start" | "end" | "alive"): Promise<void> {
    return this.#push(this.#frames.seal(kind));
  }

  refuse(refusal: LogRefusal): Promise<void> {
    return this.#push(this.#frames.seal("error", sayRefusal(refusal)));
  }

  /** Waits until the reader has room for it. */
  async data(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const size = this.#sizeOfNext(bytes.length - at);
      if (size === 0) {
        this.abort.signal.throwIfAborted();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const piece = Buffer.from(bytes.buffer, bytes.byteOffset + at, size);
      at += size;
      this.#unread += size;
      this.#pushes++;
      this.#push(this.#frames.seal("data", piece)).then(
        () => this.#pushed(),
        () => this.end("Redis does not answer"),
      );
    }
  }

  /**
   * 0: not yet. The window may be smaller by now than it was. A piece that is not whole waits for the one before: what a container
   * writes meanwhile makes the next one larger.
   */
  #sizeOfNext(left: number): number {
    const window = this.#window();
    const whole = pieceBytes(window);
    const size = Math.min(whole, left);
    const most = size < whole ? 1 : MAX_PUSHES;
    return this.#pushes >= most || this.#unread + size > window ? 0 : size;
  }

  #pushed(): void {
    this.#pushes--;
    this.#wake?.();
  }

  hear(piece: Buffer, now: number): void {
    this.#heardAt = now;
    const { kind, said } = this.#credits.open(piece);
    if (kind === "credit") this.#unread -= said.readUInt32BE();
    if (kind === "stop") this.end("the reader has gone");
    this.#wake?.();
  }

  isSilent(now: number): boolean {
    return now - this.#heardAt > SILENT_MS;
  }

  end(why: string): void {
    this.abort.abort(new Error(why));
    this.#wake?.();
  }
}

/** Takes what the hub asks for. */
export interface LogTaker {
  /** Returns at once: a log is read for as long as somebody wants it. */
  take(request: ReadLog | ListPods): void;
  /** Ends every reading. */
  stop(): Promise<void>;
}

/** Reads logs for whoever asks on the hub. Nothing is kept: a reader that goes away ends the reading. */
export class LogSender implements LogTaker {
  readonly #options: LogSenderOptions;
  readonly #open = new Map<string, Sending>();
  readonly #pushes = new Slots(MAX_PUSHES_OF_ALL);
  /** From the first log on: a connection that is being closed could swallow what the next reader says. */
  #listening: { stop(): Promise<void> } | undefined;
  #cancelTick: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: LogSenderOptions) {
    this.#options = options;
  }

  take(request: ReadLog | ListPods): void {
    const { stream } = request;
    if (this.#open.has(stream)) return;
    const { lanes, cluster, clock, logger } = this.#options;
    const push = (piece: Buffer): Promise<void> =>
      this.#pushes.run(() => lanes.push({ cluster, lane: "log-frames" }, piece));
    const sending = new Sending(request, push, () => windowBytes(this.#open.size), clock.monotonic());
    const isFull = this.#open.size >= MAX_STREAMS;
    this.#open.set(stream, sending);
    this.#listen();
    const work = isFull ? sending.refuse(tooMany) : this.#serve(request, sending);
    work
      .catch((error: unknown) => logger.debug({ error, stream }, "a log could not be sent to its end"))
      .finally(() => this.#open.delete(stream))
      .catch(() => {});
  }

  async stop(): Promise<void> {
    for (const sending of this.#open.values()) sending.end("the agent stops");
    this.#cancelTick?.();
    this.#unsubscribe?.();
    await this.#listening?.stop();
  }

  async #serve(request: ReadLog | ListPods, sending: Sending): Promise<void> {
    const { signal } = sending.abort;
    let started = false;
    try {
      const chunks = await this.#chunksOf(request, signal);
      if (chunks === undefined) return await sending.refuse(gone);
      await sending.send("start");
      started = true;
      for await (const chunk of chunks) await sending.data(chunk);
      await sending.send("end");
    } catch (error) {
      if (signal.aborted) return;
      await sending.refuse(refusalOf(error, started));
    }
  }

  /** Undefined: the pod, or the whole Job, is not here. */
  async #chunksOf(request: ReadLog | ListPods, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { logs, pods } = this.#options;
    if (request.kind === "list-pods") {
      const lines = await pods.list(request);
      return (
        lines &&
        (async function* () {
          yield lines;
        })()
      );
    }
    const { pod, container, options } = request;
    const found = await pods.find(request, pod);
    return found && (await logs.readLog(found, { ...options, container }, signal));
  }

  #listen(): void {
    const { lanes, cluster, clock, logger } = this.#options;
    this.#listening ??= lanes.listen({ cluster, lane: "log-credits" }, (piece) => {
      const sending = this.#open.get(streamOf(piece));
      try {
        sending?.hear(piece, clock.monotonic());
      } catch (error) {
        // Made up, or some before it were lost: the reader is told nothing more, and asks again.
        logger.debug({ error }, "a word of a log's reader could not be read");
        sending?.end("what the reader says cannot be read");
      }
    });
    this.#unsubscribe ??= lanes.onLost(() => {
      for (const sending of this.#open.values()) sending.end("Redis was lost");
    });
    this.#cancelTick ??= clock.after(ALIVE_MS, () => this.#tick());
  }

  #tick(): void {
    this.#cancelTick = undefined;
    const { clock } = this.#options;
    for (const sending of this.#open.values()) {
      if (sending.isSilent(clock.monotonic())) sending.end("the reader is silent");
      else sending.send("alive").catch(() => sending.end("Redis does not answer"));
    }
    if (this.#open.size > 0) this.#cancelTick = clock.after(ALIVE_MS, () => this.#tick());
  }
}

const tooMany: LogRefusal = {
  code: 429,
  message: `${MAX_STREAMS} logs of this cluster are being read already: try again later`,
};

const gone: LogRefusal = {
  code: 404,
  message:
    "the pod is gone from its cluster, and its log with it: finished Jobs stay there for the agent's --retention-seconds",
};

function refusalOf(error: unknown, started: boolean): LogRefusal {
  if (error instanceof ApiError && error.code >= 400 && !started) return { code: error.code, message: error.message };
  return { code: 502, message: `the worker's API server: ${(error as Error).message}` };
}
