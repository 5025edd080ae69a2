import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Manager } from "../manager.ts";
import { LogError } from "../pods/log-reader.ts";
import type { LogQuestions } from "./log-service.ts";
import { Tickets } from "./tickets.ts";

export interface LogDeskOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly isAllowed: LogQuestions["isAllowed"];
  /** Undefined while another one leads. */
  manager(): Pick<Manager, "logs" | "jobLogs" | "askForLog"> | undefined;
}

const SWEEP_MS = 60_000;

/** Answers what the service of logs asks the manager. Removes old tickets while this one leads. */
export function openLogDesk(options: LogDeskOptions): LogQuestions & { close(): void } {
  const { api, clock, logger } = options;
  const tickets = new Tickets(api, clock);
  const leading = () => {
    const manager = options.manager();
    if (manager === undefined)
      throw new LogError({ code: 503, message: "another manager leads: try again in a moment" });
    return manager;
  };
  const sweeping = setInterval(() => {
    if (options.manager() !== undefined)
      tickets.sweep().catch((error: unknown) => logger.warn({ error }, "old LogReadings were not removed"));
  }, SWEEP_MS).unref();
  return {
    isAllowed: options.isAllowed,
    shown: async (container) => {
      const { logs } = leading();
      if (logs === undefined) throw new LogError({ code: 404, message: "this manager shows no pods" });
      return logs.find(container);
    },
    ticketed: async ({ reading, ticket }) => {
      leading();
      const job = await tickets.jobOf(reading, ticket);
      return job === undefined ? undefined : leading().jobLogs.find(reading.namespace, job);
    },
    ask: ({ cluster, what }) => leading().askForLog(cluster, what),
    close: () => clearInterval(sweeping),
  };
}
