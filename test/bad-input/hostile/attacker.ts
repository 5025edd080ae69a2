/** Those who have some rights and want more: each tries everything that it can think of, over and over, and must get nowhere. */
import type { Job } from "@jobferry/shared/job/types.ts";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";

/** What attackers know of an honest Job. */
export interface Victim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Attacker {
  readonly name: string;
  /** One round; it goes on, whatever is refused. */
  attack(round: number, victims: readonly Victim[]): Promise<void>;
  stop(): Promise<void>;
}

export const container = { name: "main", image: "none" };

/** Tries all of them at once. Those that are refused are what we hope for. */
export const tryAll = async (...tries: Promise<unknown>[]): Promise<void> => {
  await Promise.allSettled(tries);
};

export const clientOf = async (kubeconfig: string) => createClient(await findAccess({ kubeconfig }));

export const template = (pod: object = {}): Job["spec"]["template"] => ({
  spec: { restartPolicy: "Never", containers: [container], ...pod },
});
