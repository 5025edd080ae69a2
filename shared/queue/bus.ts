import type { ClusterName } from "../protocol/names.ts";

/** Where a message waits: in one of a cluster's two boxes. */
export interface Address {
  readonly cluster: ClusterName;
  readonly box: "deliveries" | "reports";
}

export const addressName = ({ cluster, box }: Address): string => `${cluster}/${box}`;

export interface SendOptions {
  /** 0 goes first, then 1, 2, ...; first come, first served among equals. */
  readonly priority?: number;
}

/** Resolves when the message needs no further handling; rejects to have it tried again (ProtocolError: never again). */
export type MessageHandler = (text: string, signal: AbortSignal) => Promise<void>;

export interface ConsumeOptions {
  readonly concurrency: number;
  /** Tries, crashes of the receiver included, after which a message is put in quarantine. */
  readonly maxTries: number;
  /** A handler that takes longer counts as failed. */
  readonly deadlineMs: number;
  readonly backoff: { readonly baseMs: number; readonly maxMs: number };
  /** How often to look for messages of receivers that died. They come back after the deadline and two looks. */
  readonly stalledCheckMs: number;
}

export const DEFAULT_CONSUME: ConsumeOptions = {
  concurrency: 16,
  maxTries: 5,
  deadlineMs: 30_000,
  backoff: { baseMs: 200, maxMs: 10_000 },
  stalledCheckMs: 15_000,
};

/** Messages kept per box for somebody to look at; larger ones are kept without their text. */
export const QUARANTINE_KEPT = 100;
export const QUARANTINE_TEXT_BYTES = 64 * 1024;
/** What waits in one box, at most; the sender hears that it is full, and says it again later. */
export interface BoxBounds {
  readonly messages: number;
  readonly bytes: number;
}
/** Twenty of the largest messages fit, or the Jobs of a large cluster. With its logs a cluster costs Redis some 200 MB at most. */
export const BOX_BOUNDS: BoxBounds = { messages: 20_000, bytes: 64 * 1024 * 1024 };

export interface Quarantined {
  readonly address: Address;
  readonly reason: string;
  /** A code of shared/protocol, or `tries` when a well-formed message failed too often. */
  readonly code: string;
}

export interface Subscription {
  /** Redis answers for this box: of a Redis Cluster one shard may be away while the others are there. */
  readonly reachable: boolean;
  /** Takes nothing new, waits for running handlers up to the deadline, then abandons them; they will be redelivered. */
  stop(deadlineMs: number): Promise<{ readonly abandoned: number }>;
}

/** Opaque texts from one process to another, at least once, in no guaranteed order. */
export interface Bus {
  send(address: Address, text: string, options?: SendOptions): Promise<void>;
  consume(address: Address, handler: MessageHandler, options?: Partial<ConsumeOptions>): Subscription;
  /** Messages that wait for their first or next try. */
  waiting(address: Address): Promise<number>;
  /** Bytes of messages that wait or are in hand. */
  bytes(address: Address): Promise<number>;
  readonly reachable: boolean;
  /** Called at every change of `reachable`, until the function returned is called. */
  onReachable(listener: (reachable: boolean) => void): () => void;
  close(deadlineMs: number): Promise<void>;
}
