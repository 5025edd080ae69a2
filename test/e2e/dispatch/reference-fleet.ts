/** What the tests of references share. */
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { COPY_LABEL, QUEUE_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { outputOf } from "../../harness/run-command.ts";
import type { FleetNamespace } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";

/** Of the queue that sends Secrets. */
export const sealed = { [QUEUE_LABEL]: "sealed" };

export const on = (cluster: string) => ({ annotations: { "jobferry.dev/cluster-selector": `name=${cluster}` } });
export const onEast = on("east");

/** What whoever runs the namespace does. */
export const allowSecrets = (fleet: RealFleet, { name }: FleetNamespace): Promise<string> =>
  outputOf(
    fleet.hub.kubectl(
      ...["create", "rolebinding", "jobferry-references", "-n", name, "--clusterrole=jobferry-references"],
      "--serviceaccount=jobferry-system:jobferry-manager",
    ),
  );

export const copiesOn = async <T extends KubeObject>(
  { mapped, fleet }: FleetNamespace,
  cluster: string,
  resource: Resource<T>,
): Promise<T[]> =>
  (await fleet.worker(cluster).api.list(resource, { namespace: mapped, labelSelector: COPY_LABEL })).items;

/** What a running manager or agent shows of itself. */
export async function metricsOf(fleet: RealFleet, name: string): Promise<string> {
  const [, url = ""] = (await fleet.log(name)).match(/.*"status":"([^"]+)"/s) ?? [];
  const text = await (await fetch(new URL("/metrics", url))).text();
  if (!text.includes("jobferry_")) throw new Error(`${name} shows no metrics of its own`);
  return text;
}
