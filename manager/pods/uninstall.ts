import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { leases, pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { LEASE_NAMESPACE, nodes } from "./node.ts";
import { NODE_NAME, ON_OUR_NODE } from "./projection.ts";

const PAGE = 500;

/** What an earlier manager kept that showed pods: they go with their node. Without the rights to it there is nothing to remove. */
export async function removeShadows(api: KubeApi, logger: Logger): Promise<void> {
  try {
    for (;;) {
      const { items } = await api.list(pods, { labelSelector: SHADOW_LABEL, fieldSelector: ON_OUR_NODE, limit: PAGE });
      for (const { metadata } of items) {
        const { namespace = "", name = "", uid = "" } = metadata;
        const options = { gracePeriodSeconds: 0, preconditions: { uid } };
        await api.delete(pods, { namespace, name }, options).catch(unlessGone);
      }
      if (items.length < PAGE) break;
    }
    await api.delete(nodes, { name: NODE_NAME }).catch(unlessGone);
    await api.delete(leases, { namespace: LEASE_NAMESPACE, name: NODE_NAME }).catch(unlessGone);
  } catch (error) {
    if (!isForbidden(error)) logger.warn({ error }, "shadow pods of an earlier manager could not be removed");
  }
}

function unlessGone(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
