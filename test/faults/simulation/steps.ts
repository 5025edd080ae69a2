import type { JobQueue } from "@jobferry/shared/api/fleet-resources.ts";
import type { ApiEffect } from "./api-server.ts";

/** A Job as a plan describes it. */
export interface PlannedJob {
  readonly name: string;
  readonly kind: "plain" | "indexed" | "back-off" | "failing" | "elastic";
  readonly policy?: string;
  /** The only cluster it may run on. */
  readonly only?: string;
  readonly completions: number;
  readonly parallelism: number;
  readonly runMs: number;
  readonly stopMs: number;
  readonly suspend: boolean;
  /** What a pod requests; a cluster has 64. */
  readonly cpu?: number;
  readonly queue?: string;
  readonly priority?: number;
  /** Far beyond what the Job takes, whatever a clock says. */
  readonly deadlineSeconds?: number;
  /** Its pods read the ConfigMap that Jobs may bring with them. */
  readonly reads?: boolean;
}

/** What users and administrators do. */
export type WorkStep =
  | { readonly do: "submit"; readonly job: PlannedJob }
  | { readonly do: "edit"; readonly name: string; readonly spec: object }
  | { readonly do: "policy"; readonly name: string; readonly policy: string | null }
  | { readonly do: "queue policy"; readonly policy: string }
  | { readonly do: "queue"; readonly name: string; readonly spec: NonNullable<JobQueue["spec"]> }
  | { readonly do: "delete"; readonly name: string; readonly propagation: "Background" | "Foreground" | "Orphan" }
  | { readonly do: "delete mirror"; readonly name: string; readonly cluster: string }
  | { readonly do: "delete pod"; readonly name: string }
  | { readonly do: "occupy name"; readonly name: string; readonly cluster: string; readonly ms: number }
  | { readonly do: "drain"; readonly cluster: string; readonly ms: number };

interface SlowStep {
  readonly cluster: string;
  readonly plural: string;
  /** Of the streams or requests. */
  readonly share: number;
  readonly ms: number;
  readonly lagMs: number;
}

/** What goes wrong. */
export type FaultStep =
  | { readonly do: "kill"; readonly program: string; readonly ms: number }
  | { readonly do: "terminate"; readonly program: string }
  | { readonly do: "freeze"; readonly program: string; readonly ms: number }
  | { readonly do: "sleep"; readonly program: string; readonly ms: number }
  | { readonly do: "cut"; readonly program: string; readonly ms: number; readonly told: boolean }
  | { readonly do: "flush" }
  /** Answers of Redis to this process are late. */
  | { readonly do: "slow redis"; readonly program: string; readonly ms: number; readonly lagMs: number }
  /** This long after the next mirror is handed over or let go. */
  | {
      readonly do: "fail over at hand-over";
      readonly ms: number;
      readonly delayMs: number;
      readonly lossMs: number;
    }
  /** Of the hub's etcd, to be restored later. */
  | { readonly do: "back up hub" }
  /**
   * The managers are stopped, the backup is put back, and they are started again, as an operator does it. `cordonMs`: all clusters
   * are cordoned before that, and for this long.
   */
  | { readonly do: "restore hub"; readonly bump: number; readonly cordonMs?: number }
  | { readonly do: "redis down"; readonly ms: number }
  /** The part of a Redis Cluster that has this cluster's queues; `empty`: it comes back without them. */
  | { readonly do: "shard away"; readonly cluster: string; readonly ms: number; readonly empty: boolean }
  | { readonly do: "fail over"; readonly lossMs: number; readonly replicaMs: number }
  | {
      readonly do: "api errors";
      readonly cluster: string;
      readonly ms: number;
      readonly effects: readonly ApiEffect[];
      readonly chance: number;
    }
  | { readonly do: "api restart"; readonly cluster: string; readonly ms: number }
  | { readonly do: "cut watches"; readonly cluster: string }
  | { readonly do: "expire watches"; readonly cluster: string }
  | ({ readonly do: "slow watches" } & SlowStep)
  | ({ readonly do: "slow lists" } & SlowStep);

/** Something that happens at a moment. Plain data: a plan can be printed, and shortened. */
export type Step = { readonly at: number } & (WorkStep | FaultStep);

/** How long it lasts; 0 for what is over at once. */
export const lastsMs = (step: Step): number => {
  if ("ms" in step) return step.ms;
  return "replicaMs" in step ? step.replicaMs : "cordonMs" in step ? (step.cordonMs ?? 0) : 0;
};

const FAULTS: ReadonlySet<string> = new Set<FaultStep["do"]>([
  "kill",
  "terminate",
  "freeze",
  "sleep",
  "cut",
  "flush",
  "back up hub",
  "restore hub",
  "redis down",
  "shard away",
  "fail over",
  "fail over at hand-over",
  "slow redis",
  "api errors",
  "api restart",
  "cut watches",
  "expire watches",
  "slow watches",
  "slow lists",
]);

export const isFault = (step: WorkStep | FaultStep): step is FaultStep => FAULTS.has(step.do);
