import type { KubeClient } from "@jobferry/shared/kube/client.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

/** Opens the hub for one command. What the hub refuses is told in one sentence, with its address. */
export async function askHub<T>(
  config: { kubeconfig?: string | undefined; context?: string | undefined },
  env: NodeJS.ProcessEnv,
  ask: (api: KubeClient, namespace: string) => Promise<T>,
): Promise<T> {
  const { api, namespace } = await openClient(config, env, { userAgent: "jobferry-cli" });
  try {
    return await ask(api, namespace);
  } catch (error) {
    if (error instanceof ApiError) throw new ConfigError(`${api.server}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    await api.close();
  }
}
