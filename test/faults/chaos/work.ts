/** What users do in a chaos run. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../differential/random.ts";
import type { FleetNamespace } from "../../e2e/dispatch/fleet-namespace.ts";
import type { Planned } from "./outcome.ts";

const POLICIES = ["Redispatch", "Wait", "StopThenRedispatch"] as const;

/** Submits one Job and does to it what its kind says. Resolves when nothing more is done to it. */
export async function live(at: FleetNamespace, random: Random, name: string): Promise<Planned> {
  const kind = random.weighted<Planned["kind"]>([
    [4, "plain"],
    [4, "indexed"],
    [1, "failing"],
    [1, "resumed"],
    [1, "paused"],
    [1, "scaled"],
    [1, "deleted"],
  ]);
  const completions = kind === "plain" || kind === "failing" ? 1 : random.int(2, 4);
  const planned = { name, kind, completions };
  const [runMs, pauseMs] = [random.int(0, 4_000), random.int(500, 6_000)];
  const exitCode = kind === "failing" ? { "instant-pods/exit-code": "1" } : {};
  await at.submit(name, {
    annotations: { "jobferry.dev/on-cluster-lost": random.pick(POLICIES) },
    spec: {
      ...(kind === "plain" ? {} : { completionMode: "Indexed" as const }),
      ...{ completions, parallelism: random.int(1, completions), backoffLimit: kind === "failing" ? 0 : 6 },
      suspend: kind === "resumed",
    },
    pod: { annotations: { "instant-pods/run": `${runMs}ms`, ...exitCode } },
  });
  if (["plain", "indexed", "failing"].includes(kind)) return planned;
  await delay(pauseMs);
  // One that is over already cannot be changed; what counts is that it is over.
  if (kind === "resumed") await at.edit(name, { spec: { suspend: false } });
  if (kind === "paused") {
    await at.edit(name, { spec: { suspend: true } });
    await delay(pauseMs);
    await at.edit(name, { spec: { suspend: false } });
  }
  if (kind === "scaled") await at.edit(name, { spec: { parallelism: random.int(1, 4) } });
  if (kind === "deleted") await at.delete(name, random.pick(["Background", "Foreground"]));
  return planned;
}
