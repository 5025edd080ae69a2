/** Logs through the manager, where the hub shows no pods. The hub's API server decides who may (deploy/hub/logs.yaml). */
import { readFile } from "node:fs/promises";
import {
  hashOf,
  LOG_SERVICE,
  logReadings,
  newTicket,
  TICKET_HEADER,
  TICKET_MS,
} from "@jobferry/shared/api/log-readings.ts";
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { createClient, type KubeClient } from "@jobferry/shared/kube/client.ts";
import { ApiError, isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { type Clock, realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { LogSource } from "./log-source.ts";

/** How the manager is reached. */
export interface ManagerRoute {
  /** Answers with what the manager has at this path. */
  read(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

export interface RouteFlags {
  readonly managerNamespace?: string | undefined;
  readonly managerUrl?: string | undefined;
  readonly managerCaFile?: string | undefined;
}

/** Through the hub's API server, unless another way was given. */
export async function routeToManager(api: KubeClient, flags: RouteFlags): Promise<ManagerRoute> {
  if (flags.managerUrl === undefined) {
    const { name, port } = LOG_SERVICE;
    const proxy = `/api/v1/namespaces/${flags.managerNamespace ?? LOG_SERVICE.namespace}/services/https:${name}:${port}/proxy`;
    return { read: (path, ...rest) => api.read(`${proxy}${path}`, ...rest), close: async () => {} };
  }
  const ca = flags.managerCaFile === undefined ? {} : { ca: await readCa(flags.managerCaFile) };
  const nobody = { current: () => ({ headers: {} }), refresh: () => {} };
  return createClient({ server: flags.managerUrl.replace(/\/+$/, ""), namespace: "", tls: ca, credentials: nobody });
}

const readCa = (file: string): Promise<string> =>
  readFile(file, "utf8").catch((cause: unknown) => {
    throw new ConfigError(`--manager-ca-file: ${(cause as Error).message}`, { cause });
  });

/** While another manager takes over, or the one that leads cannot be told from the other. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 200;
/** A ticket that is nearly over is not used any more. */
const RENEW_MS = TICKET_MS - 60_000;

interface Ticket {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly until: number;
}

export class ManagerLogs implements LogSource {
  readonly #api: KubeClient;
  readonly #route: ManagerRoute;
  readonly #job: Job;
  readonly #clock: Clock;
  #ticket: Promise<Ticket> | undefined;

  constructor(api: KubeClient, route: ManagerRoute, job: Job, clock: Clock = realClock) {
    this.#api = api;
    this.#route = route;
    this.#job = job;
    this.#clock = clock;
  }

  async pods(): Promise<Pod[]> {
    const parts: Uint8Array[] = [];
    for await (const part of await this.#ask("pods")) parts.push(part);
    const lines = Buffer.concat(parts).toString("utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Pod);
  }

  read({ metadata }: Pod, { container, ...options }: LogOptions & { container: string }) {
    const given = Object.entries(options).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const names = [metadata.name ?? "", metadata.uid ?? "", container].map(encodeURIComponent);
    return this.#ask(`pods/${names.join("/")}?${new URLSearchParams(given)}`);
  }

  async #ask(what: string): Promise<AsyncIterable<Uint8Array>> {
    const deadline = this.#clock.monotonic() + PATIENCE_MS;
    for (;;) {
      const { path, headers } = await this.#newest();
      try {
        return await this.#route.read(`${path}/${what}`, headers, new AbortController().signal);
      } catch (error) {
        const isWorthAnother = error instanceof ApiError && [0, 429, 502, 503].includes(error.code);
        if (!isWorthAnother || this.#clock.monotonic() > deadline) throw explained(error);
        await sleep(this.#clock, PAUSE_MS);
      }
    }
  }

  /** A ticket that is good for a while. */
  async #newest(): Promise<Ticket> {
    const last = await this.#ticket;
    if (last === undefined || this.#clock.monotonic() > last.until) this.#ticket = this.#make();
    return await (this.#ticket as Promise<Ticket>);
  }

  async #make(): Promise<Ticket> {
    const { name: job = "", namespace = "" } = this.#job.metadata;
    const ticket = newTicket();
    const metadata = { generateName: "logs-", namespace };
    const until = this.#clock.monotonic() + RENEW_MS;
    try {
      const reading = await this.#api.create(logReadings, namespace, {
        ...{ apiVersion: "jobferry.dev/v1alpha1", kind: "LogReading", metadata },
        spec: { job, ticketHash: hashOf(ticket) },
      });
      const path = `/readings/${namespace}/${reading.metadata.name}`;
      return { path, headers: { [TICKET_HEADER]: ticket }, until };
    } catch (error) {
      if (isNotFound(error))
        throw new ConfigError(
          "the hub shows no pods of this Job, and its Jobferry has no other way to logs: apply deploy/hub of this version",
          { cause: error },
        );
      if (isForbidden(error))
        throw new ConfigError(
          `you may not read logs of namespace ${namespace} (${(error as Error).message}): ask for role view, or for get on pods/log and create on logreadings.jobferry.dev`,
          { cause: error },
        );
      throw error;
    }
  }
}

/** What a user can do about it. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message } = error;
  const say = (text: string): ConfigError => new ConfigError(text, { cause: error });
  if (code === 404 && /services? ".*" not found/.test(message))
    return say(
      `the hub has no Service ${LOG_SERVICE.name}: apply deploy/hub of this version, or say where the manager is with --manager-namespace or --manager-url`,
    );
  if (code === 403 && /services\/proxy|cannot get resource "services/.test(message))
    return say(`you may not reach the manager: ${message}; RoleBinding ${LOG_SERVICE.name} of deploy/hub allows it`);
  if ([0, 502, 503].includes(code))
    return say(
      `no manager answers (${message}): look at kubectl get pods -n ${LOG_SERVICE.namespace}, and whether the API server can reach port 8443 of them; --manager-url is another way`,
    );
  return say(message);
}
