import { badRequest, failure } from "../api/errors.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import type { Exchange } from "./exchange.ts";
import { type Kubelet, proxyLog } from "./kubelet-logs.ts";
import { flag, integer, text } from "./request.ts";
import type { Certificate } from "./tls.ts";

interface LogOptions {
  follow?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  limitBytes?: number;
}

/** Where container output comes from; undefined when that run of the container is not known. */
export interface LogSource {
  log(
    podUid: string,
    container: string,
    previous: boolean,
  ): { read(options: LogOptions, signal?: AbortSignal): AsyncIterable<string> } | undefined;
}

/** A kubelet outside of this process, and the certificate that it knows us by. */
export interface RemoteKubelet {
  readonly kubelet: Kubelet;
  readonly client: Certificate;
}

export async function serveLog(
  exchange: Exchange,
  pod: Stored,
  source: LogSource | undefined,
  remote: RemoteKubelet | undefined,
): Promise<void> {
  const { query } = exchange;
  const container = chooseContainer(pod, text(query, "container"));
  if (remote !== undefined) return proxyLog(exchange, { pod, container, ...remote });
  const previous = flag(query, "previous") ?? false;
  const log = source?.log(pod.metadata.uid, container, previous);
  if (log === undefined) throw noLog(pod, container, previous);
  exchange.head(200, "text/plain");
  for await (const chunk of log.read(readOptions(query), exchange.signal)) await exchange.write(chunk);
  exchange.response.end();
}

function readOptions(query: URLSearchParams): LogOptions {
  const tailLines = integer(query, "tailLines");
  const sinceSeconds = integer(query, "sinceSeconds");
  const sinceTime = text(query, "sinceTime");
  const limitBytes = integer(query, "limitBytes");
  return {
    follow: flag(query, "follow") ?? false,
    timestamps: flag(query, "timestamps") ?? false,
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTime === undefined ? {} : { sinceTime }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

function chooseContainer(pod: Stored, wanted: string | undefined): string {
  const spec = isRecord(pod.spec) ? pod.spec : {};
  const names = (list: unknown): string[] =>
    (Array.isArray(list) ? list : []).filter(isRecord).map(({ name }) => String(name));
  const containers = names(spec.containers);
  const all = [...containers, ...names(spec.initContainers)];
  if (wanted !== undefined && wanted !== "") {
    if (all.includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${pod.metadata.name}`);
  }
  const [only, ...others] = containers;
  if (only !== undefined && others.length === 0) return only;
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${containers.join(" ")}]`,
  );
}

function noLog(pod: Stored, container: string, previous: boolean): Error {
  const { name } = pod.metadata;
  if (previous) return badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
  const phase = isRecord(pod.status) ? pod.status.phase : undefined;
  if (phase === "Pending")
    return badRequest(`container "${container}" in pod "${name}" is waiting to start: ContainerCreating`);
  return failure(404, "NotFound", `the output of container "${container}" in pod "${name}" is not kept`);
}
