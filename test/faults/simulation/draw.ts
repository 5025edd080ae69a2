import type { Random } from "../../differential/random.ts";
import type { PlannedJob } from "./steps.ts";

export const POLICIES = ["Redispatch", "Wait", "StopThenRedispatch"] as const;

/** What makes the steps of one seed. */
export interface Draw {
  readonly random: Random;
  readonly clusters: readonly [string, ...string[]];
  readonly programs: readonly [string, ...string[]];
  readonly lostAfterMs: number;
  /** Names of Jobs that were submitted so far. */
  readonly names: string[];
  /** Mostly short, sometimes beyond `lostAfter`. */
  duration(): number;
}

export function aJob({ random, clusters }: Draw, called: string, fixed: Partial<PlannedJob> = {}): PlannedJob {
  const kind = random.weighted<PlannedJob["kind"]>([
    [4, "plain"],
    [4, "indexed"],
    [2, "back-off"],
    [1, "failing"],
    [1, "elastic"],
  ]);
  const policy = random.weighted<PlannedJob["policy"] | undefined>([
    [2, "Redispatch"],
    [2, "Wait"],
    [3, "StopThenRedispatch"],
    [1, undefined],
  ]);
  return {
    name: called,
    kind,
    ...(policy === undefined ? {} : { policy }),
    ...(random.chance(0.1) ? { only: random.pick(clusters as [string, ...string[]]) } : {}),
    completions: kind === "indexed" || kind === "elastic" ? random.int(2, 5) : random.int(1, 2),
    parallelism: random.int(1, 3),
    runMs: random.chance(0.3) ? random.int(40_000, 200_000) : random.int(500, 20_000),
    stopMs: random.chance(0.5) ? random.int(0, 1_000) : random.int(1_000, 25_000),
    suspend: random.chance(0.1),
    ...(random.chance(0.2) ? { deadlineSeconds: 3_600 } : {}),
    ...fixed,
  };
}
