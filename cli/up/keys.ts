/** Keys of `jobferry up`, kept on the hub: the next run has to know the marks that this one leaves on Jobs. */
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { keptSecret } from "@jobferry/shared/kube/kept-secret.ts";
import { formatPrivateKey, generateKeyPair, parseOwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { generateMirrorKey, parseMirrorKeys } from "@jobferry/worker-agent/proofs.ts";
import type { FleetKeys } from "../local-fleet.ts";

const SECRET = { namespace: "jobferry-system", name: "jobferry-up" };

export async function keptKeys(hub: KubeApi): Promise<FleetKeys> {
  const kept = await keptSecret(hub, SECRET, () => ({
    "key.pem": formatPrivateKey(generateKeyPair().privateKey),
    "mirror-key": generateMirrorKey(),
  }));
  return { manager: parseOwnKeys(kept["key.pem"] ?? ""), mirrors: parseMirrorKeys(kept["mirror-key"] ?? "") };
}
