import { ConfigError } from "../runtime/config-error.ts";
import { findAccess } from "./access.ts";
import { type ClientOptions, createClient, type KubeClient } from "./client.ts";

/** A refused connection or an unknown name shows at once; a host that swallows packets shows by saying nothing for this long. */
const ANSWER_MS = 5_000;

/** As the flags of programs leave them: absent ones undefined. */
interface ClusterFlags {
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

export interface OpenedClient {
  readonly api: KubeClient;
  /** Such as `v1.36.3`. */
  readonly version: string;
  /** The namespace commands act on when none is named. */
  readonly namespace: string;
}

/** For programs that start: the client of a cluster that has answered, or `ConfigError`, without a second try. */
export async function openClient(
  { kubeconfig, context }: ClusterFlags,
  env: NodeJS.ProcessEnv,
  options: ClientOptions,
): Promise<OpenedClient> {
  const access = await findAccess({ env, kubeconfig, context });
  const version = await askOnce(createClient(access, { ...options, maxRetries: 0, timeoutMs: ANSWER_MS }));
  return { api: createClient(access, options), version, namespace: access.namespace };
}

async function askOnce(api: KubeClient): Promise<string> {
  try {
    return await api.serverVersion();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new ConfigError(
      `${api.server} does not answer as an API server (${why}): check the server and the credentials of --kubeconfig`,
      { cause },
    );
  } finally {
    await api.close();
  }
}
