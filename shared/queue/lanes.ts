import type { ClusterName } from "../protocol/names.ts";

/** A cluster's way for pieces of log streams, and the way back. */
export interface LaneAddress {
  readonly cluster: ClusterName;
  readonly lane: "log-frames" | "log-credits";
}

/**
 * Small binary pieces from one process to another: in order and once each, to whoever listens. What is on its way when Redis
 * restarts is lost, and what nobody takes is gone after a minute. Who sends bounds how much is on its way.
 */
export interface Lanes {
  push(address: LaneAddress, piece: Buffer): Promise<void>;
  listen(address: LaneAddress, onPiece: (piece: Buffer) => void): { stop(): Promise<void> };
  /** Called when what was on its way is lost, until the function returned is called. */
  onLost(listener: () => void): () => void;
}
