/** `jobferry retry JOB`. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { CLUSTER, RETRY } from "@jobferry/shared/protocol/marks.ts";
import type { GivenConfig } from "@jobferry/shared/runtime/command.ts";
import { loadConfig } from "@jobferry/shared/runtime/config.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { askHub } from "../hub/ask.ts";
import { isDispatched } from "../hub/waiting.ts";
import { explainConfig } from "./flags.ts";
import { readJob } from "./read.ts";

export async function runRetry(name: string, given: GivenConfig, print: (line: string) => void): Promise<void> {
  const config = loadConfig(explainConfig, given);
  const job = await askHub(config, given.env, async (api, namespace) => {
    const key = { namespace: config.namespace ?? namespace, name };
    const found = await readJob(api, key.namespace, name);
    const obstacle = obstacleOf(found);
    if (obstacle !== undefined) throw new ConfigError(`Job ${key.namespace}/${name} ${obstacle}`);
    const annotations = { [RETRY]: new Date().toISOString() };
    return await api.patch(jobs, key, { type: "merge", body: { metadata: { annotations } } });
  });
  const { namespace, annotations = {} } = job.metadata;
  const said = { job: `${namespace}/${name}`, retry: annotations[RETRY] };
  const text = `Job ${said.job} is tried again; jobferry explain ${name} --namespace ${namespace} says what came of it`;
  print(config.output === "json" ? JSON.stringify(said, null, 2) : text);
}

/** Why trying again means nothing. */
function obstacleOf(job: Job): string | undefined {
  if (!isDispatched(job)) return "is not dispatched: its spec.managedBy is not jobferry.dev/manager";
  if (isFinished(job)) return "is finished: create it anew to run it again";
  const cluster = job.metadata.annotations?.[CLUSTER];
  return cluster === undefined ? undefined : `is on cluster ${cluster} and waits for nothing`;
}
