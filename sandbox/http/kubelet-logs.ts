/** Logs of pods on a node whose kubelet is elsewhere: asked for there, with the API server's own certificate, as a real one does. */

import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { reasonOf } from "@jobferry/shared/kube/errors.ts";
import { failure } from "../api/errors.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import type { Exchange } from "./exchange.ts";
import type { Certificate } from "./tls.ts";

/** The name in the API server's certificate, by which kubelets know it. */
export const KUBELET_CLIENT = "kube-apiserver-kubelet-client";

export interface Kubelet {
  readonly host: string;
  readonly port: number;
}

/** Where the node says that its kubelet is; undefined for a node of this process. */
export function kubeletOf({ status }: Stored): Kubelet | undefined {
  if (!isRecord(status) || !isRecord(status.daemonEndpoints)) return undefined;
  const { kubeletEndpoint } = status.daemonEndpoints;
  const port = isRecord(kubeletEndpoint) ? Number(kubeletEndpoint.Port) : 0;
  const addresses = (Array.isArray(status.addresses) ? status.addresses : []).filter(isRecord);
  const host = addresses.find(({ type }) => type === "InternalIP")?.address;
  return port > 0 && typeof host === "string" ? { host, port } : undefined;
}

const MAX_ERROR_BYTES = 4096;

export async function proxyLog(
  exchange: Exchange,
  { pod, container, kubelet, client }: { pod: Stored; container: string; kubelet: Kubelet; client: Certificate },
): Promise<void> {
  const query = new URLSearchParams(exchange.query);
  query.delete("container");
  const path = `/containerLogs/${pod.metadata.namespace}/${pod.metadata.name}/${container}?${query}`;
  const answer = await ask({ ...kubelet, path, ...client }, exchange.signal);
  if (answer.statusCode !== 200) {
    let text = "";
    for await (const chunk of answer) if (text.length < MAX_ERROR_BYTES) text += String(chunk);
    const code = answer.statusCode ?? 502;
    throw failure(code, reasonOf(code), text);
  }
  exchange.head(200, "text/plain");
  for await (const chunk of answer) await exchange.write(chunk as Buffer);
  exchange.response.end();
}

const ask = (options: Kubelet & Certificate & { path: string }, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    // As an API server without --kubelet-certificate-authority.
    const sent = httpsRequest({ ...options, rejectUnauthorized: false, signal }, resolve);
    sent.on("error", reject);
    sent.end();
  });
