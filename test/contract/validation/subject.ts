import type { Job } from "@jobferry/shared/job/types.ts";
import type { TestCluster } from "../../harness/test-cluster.ts";
import { serverVerdict, type Verdict } from "./verdict.ts";

/** Concurrent requests: enough to keep a small API server busy. */
const LANES = 16;

/** The Jobs of one namespace on a real API server. */
export class Subject {
  readonly namespace: string;
  readonly #cluster: Pick<TestCluster, "request">;
  readonly #url: string;

  constructor(cluster: Pick<TestCluster, "request">, namespace: string) {
    this.namespace = namespace;
    this.#cluster = cluster;
    this.#url = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  }

  create(json: object, dryRun: boolean): Promise<Verdict> {
    return this.#send("POST", `${this.#url}${dryRun ? "?dryRun=All" : ""}`, json);
  }

  update(name: string, json: object, dryRun: boolean): Promise<Verdict> {
    return this.#send("PUT", `${this.#url}/${name}${dryRun ? "?dryRun=All" : ""}`, json);
  }

  updateStatus(name: string, json: object): Promise<Verdict> {
    return this.#send("PUT", `${this.#url}/${name}/status`, json);
  }

  /** Creates a Job for good; it must be valid. */
  async store(json: object): Promise<Job> {
    return accepted(await this.create(json, false));
  }

  async #send(method: string, path: string, json: object): Promise<Verdict> {
    const headers = { "content-type": "application/json" };
    return serverVerdict(await this.#cluster.request(path, { method, headers, body: JSON.stringify(json) }));
  }
}

export function accepted(verdict: Verdict): Job {
  if (verdict.outcome === "accepted") return verdict.job;
  throw new Error(`the server should have accepted this Job: ${JSON.stringify(verdict)}`);
}

/** Runs `play` for 0..count-1, a few at a time. */
export async function inLanes(count: number, play: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await play(index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
