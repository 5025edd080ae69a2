/** The attackers as a process of their own: they would have machines of their own, too. Talks to its parent by messages. */
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { type Loot, maliciousAgent } from "./agent.ts";
import type { Victim } from "./attacker.ts";
import { redisReader } from "./reader.ts";
import { maliciousSubmitter } from "./submitter.ts";
import { maliciousWorkerUser } from "./worker-user.ts";

export interface Orders {
  readonly submitter: { readonly kubeconfig: string; readonly namespace: string };
  readonly workerUser: { readonly kubeconfig: string; readonly namespace: string };
  readonly agent: Loot;
  readonly reader: { readonly url: string; readonly secret: string };
  /** Between two rounds of each. */
  readonly pauseMs: number;
}

export type Told = { readonly orders: Orders } | { readonly victims: readonly Victim[] } | { readonly stop: true };

/** What came of it: the rounds of each, and what the reader of Redis could read. */
export interface Deeds {
  readonly rounds: Record<string, number>;
  readonly found: readonly string[];
}

let victims: readonly Victim[] = [];
let isOver = false;
const deeds = { rounds: {} as Record<string, number>, found: [] as readonly string[] };

async function attack({ submitter, workerUser, agent, reader, pauseMs }: Orders): Promise<void> {
  const listener = await redisReader(reader.url, reader.secret);
  const attackers = [
    await maliciousSubmitter(submitter.kubeconfig, submitter.namespace),
    await maliciousWorkerUser(workerUser.kubeconfig, workerUser.namespace),
    await maliciousAgent(agent),
    listener,
  ];
  process.send?.({ ready: true });
  const runs = attackers.map(async (attacker) => {
    for (let round = 1; !isOver; round++) {
      await attacker.attack(round, victims);
      deeds.rounds[attacker.name] = round;
      // A real timer: nothing else keeps this process alive.
      await sleep(realClock, pauseMs);
    }
    await attacker.stop();
  });
  await Promise.all(runs);
  deeds.found = listener.found;
  process.send?.(deeds, () => process.exit(0));
}

process.on("disconnect", () => process.exit(1));
process.on("message", (told: Told) => {
  if ("victims" in told) victims = told.victims;
  if ("stop" in told) isOver = true;
  if ("orders" in told)
    attack(told.orders).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
});
