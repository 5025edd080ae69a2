import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Agent, fetch } from "undici";
import type { Access } from "./kubeconfig.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

/** A cluster that a test can ask for, whatever it is made of. */
export interface TestCluster {
  readonly kind: "real" | "sandbox";
  readonly api: KubeApi;
  /** Of an administrator. */
  readonly kubeconfigPath: string;
  readonly url: string;
  kubectl(...args: string[]): Promise<CommandResult>;
  /** kubectl with `input` on its standard input, for `-f -`. */
  kubectlWith(input: string, ...args: string[]): Promise<CommandResult>;
  /** One HTTP exchange as it stands on the wire, for tests where the bytes matter. */
  request(path: string, options?: RawRequest): Promise<RawResponse>;
  stop(): Promise<void>;
}

export interface RawRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  signal?: AbortSignal;
}

export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body, if it is JSON. */
  json: unknown;
}

/** The parts of a TestCluster that only need an address and credentials. */
export function accessTools(access: Access, kubeconfigPath: string, kubectl: string) {
  const dispatcher = new Agent({
    connect: access.ca === undefined ? { rejectUnauthorized: false } : { ca: access.ca },
  });
  const run = (input: string, args: string[]): Promise<CommandResult> =>
    runCommand(kubectl, args, {
      input,
      // A cache per cluster: ports are re-used, and kubectl keeps discovery by host and port.
      env: { ...process.env, KUBECONFIG: kubeconfigPath, KUBECACHEDIR: `${kubeconfigPath}.cache` },
    });
  return {
    kubectl: (...args: string[]) => run("", args),
    kubectlWith: (input: string, ...args: string[]) => run(input, args),
    async request(path: string, options: RawRequest = {}): Promise<RawResponse> {
      const response = await fetch(new URL(path, access.server), {
        method: options.method ?? "GET",
        headers: { authorization: `Bearer ${access.token}`, ...options.headers },
        body: options.body ?? null,
        signal: options.signal ?? null,
        dispatcher,
      });
      const text = await response.text();
      return { status: response.status, headers: Object.fromEntries(response.headers), text, json: parse(text) };
    },
    close: () => dispatcher.destroy(),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
