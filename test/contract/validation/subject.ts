import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { TestCluster } from "../../harness/test-cluster.ts";
import { serverVerdict, type Verdict, withoutAdmission } from "./verdict.ts";

/** Concurrent requests: enough to keep a small API server busy. */
const LANES = 16;

/** The Jobs of one namespace on a cluster, real or sandbox. */
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

  async createPod(json: object): Promise<Verdict> {
    const verdict = await this.#send("POST", `/api/v1/namespaces/${this.namespace}/pods?dryRun=All`, json);
    return verdict.outcome === "accepted" ? { ...verdict, object: withoutAdmission(verdict.object as Pod) } : verdict;
  }

  /** Creates a Job for good; it must be valid. */
  async store(json: object): Promise<Job> {
    return accepted(await this.create(json, false));
  }

  async #send(method: string, path: string, json: object): Promise<Verdict> {
    const headers = { "content-type": "application/json" };
    try {
      return serverVerdict(await this.#cluster.request(path, { method, headers, body: JSON.stringify(json) }));
    } catch (error) {
      // A panic in the server breaks off the request; explained.ts says which ones may.
      return { outcome: "other", detail: `no answer (${String(error)})` };
    }
  }
}

export function accepted(verdict: Verdict): Job {
  if (verdict.outcome === "accepted") return verdict.object as Job;
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
