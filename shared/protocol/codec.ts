import { z } from "zod";
import { type Delivery, delivery } from "./delivery.ts";
import { ProtocolError } from "./errors.ts";
import { parseJson, refuseHarmful } from "./json.ts";
import type { PublicKey } from "./keys.ts";
import type { ClusterName } from "./names.ts";
import { type Report, report } from "./report.ts";
import type { Sealer } from "./sealer.ts";

/** Messages are checked on the way out too: our own mistake should fail where it was made. */
export function sealDelivery(message: Delivery, cluster: ClusterName, sealer: Sealer, clusterKey: PublicKey): string {
  return sealer.seal(stringify(checked(delivery, message)), { direction: "delivery", cluster }, clusterKey);
}

export function openDelivery(
  envelope: string,
  cluster: ClusterName,
  sealer: Sealer,
  managerKeys: readonly PublicKey[],
): Delivery {
  return checked(delivery, parseJson(sealer.open(envelope, { direction: "delivery", cluster }, managerKeys)));
}

export function sealReport(message: Report, cluster: ClusterName, sealer: Sealer, managerKey: PublicKey): string {
  return sealer.seal(stringify(checked(report, message)), { direction: "report", cluster }, managerKey);
}

export function openReport(
  envelope: string,
  cluster: ClusterName,
  sealer: Sealer,
  clusterKeys: readonly PublicKey[],
): Report {
  return checked(report, parseJson(sealer.open(envelope, { direction: "report", cluster }, clusterKeys)));
}

function stringify(message: Delivery | Report): string {
  refuseHarmful(message);
  return JSON.stringify(message);
}

/**
 * A newer peer may add fields: what this version does not know is passed over, unless the message lists it under `critical`,
 * because ignoring it would change what the message means.
 */
function checked<T extends object>(schema: z.ZodType<T>, message: unknown): T {
  const result = schema.safeParse(message);
  if (!result.success) throw new ProtocolError("protocol/schema", describe(result.error));
  const { critical } = message as { critical?: unknown };
  if (critical === undefined) return result.data;
  const names = criticalFields.safeParse(critical);
  if (!names.success) throw new ProtocolError("protocol/schema", "critical: not a list of field names");
  const unknown = names.data.filter((name) => !Object.hasOwn(result.data, name));
  if (unknown.length > 0) throw new ProtocolError("protocol/too-new", unknown.join(", "));
  return result.data;
}

const criticalFields = z.array(z.string().max(64)).max(16);

/** The first faults with their places; never the values, which may be secrets of the Job. */
function describe(error: z.ZodError): string {
  const faults = error.issues.slice(0, 3).map(({ path, message }) => `${path.join(".") || "message"}: ${message}`);
  return faults.join("; ").slice(0, 500);
}
