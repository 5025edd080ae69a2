import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { dnsSubdomain } from "@jobferry/shared/protocol/names.ts";

/** What an API server asks the kubelet of a node. */
export interface LogRequest {
  readonly verb: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly options: LogOptions;
}

/** Longer than any time that is one. */
const MAX_TIME_CHARS = 64;

/** Undefined: not a path that an API server would ask for. */
export function readLogRequest(url: string): LogRequest | undefined {
  // Given to a parser of addresses, `//host` would be a host.
  if (!URL.canParse(`https://kubelet${url}`)) return undefined;
  const { pathname, searchParams } = new URL(`https://kubelet${url}`);
  try {
    const [, verb = "", ...names] = pathname.split("/").map(decodeURIComponent);
    const [namespace = "", pod = "", container = ""] = names;
    // Names end up in messages and in the address of the worker's API server.
    if (names.some((name) => name !== "" && !dnsSubdomain.safeParse(name).success)) return undefined;
    return { verb, namespace, pod, container, options: readLogOptions(searchParams) };
  } catch {
    return undefined;
  }
}

/** Those that are not what they should be are left out. */
export function readLogOptions(query: URLSearchParams): LogOptions {
  const flag = (name: string): boolean | undefined =>
    ["true", "1"].includes(query.get(name) ?? "") ? true : undefined;
  const number = (name: string, least: number): number | undefined => {
    const value = Number(query.get(name) ?? Number.NaN);
    return Number.isSafeInteger(value) && value >= least ? value : undefined;
  };
  return {
    follow: flag("follow"),
    previous: flag("previous"),
    timestamps: flag("timestamps"),
    tailLines: number("tailLines", 0),
    sinceSeconds: number("sinceSeconds", 1),
    sinceTime: query.get("sinceTime")?.slice(0, MAX_TIME_CHARS),
    limitBytes: number("limitBytes", 1),
  };
}
