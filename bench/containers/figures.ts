/** What is measured with real containers, and the same with pods that end at once. */
import type { Writes } from "../dispatch/figures.ts";
import type { Times } from "../dispatch/turns.ts";

export const contenderNames = ["built-in", "our controller", "dispatched", "dispatched, pods shown"] as const;
export type ContenderName = (typeof contenderNames)[number];

/** `instant`: a stand-in for scheduler and kubelet that ends pods at once. */
export type PodKind = "instant" | "containers";

/** What some Jobs cost, from the first create until nothing is written any more. */
export interface Work {
  readonly jobs: number;
  readonly seconds: number;
  readonly hubWrites: Writes;
  readonly workerWrites: Writes;
  /** Of the programs that make Jobs run: the controller, or manager, agent and Redis. */
  readonly cpuSeconds: number;
}

export interface Turn {
  readonly pods: PodKind;
  readonly round: number;
  readonly contender: ContenderName;
  readonly singles: Work & Times;
  readonly burst: Work;
}

export interface Figures {
  readonly began: Date;
  readonly tookSeconds: number;
  /** One minute's load average at the start. */
  readonly load: number;
  readonly kubernetes: string;
  readonly turns: readonly Turn[];
}
