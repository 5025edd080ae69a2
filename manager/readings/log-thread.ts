/**
 * The service of logs in a thread of its own. Bytes of logs leave much garbage, and whoever collects it stops all that runs in the
 * same thread: dispatch shall not wait for that.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import type { RedisConfig } from "@jobferry/shared/queue/redis-config.ts";
import { RedisLanes } from "@jobferry/shared/queue/redis-lanes.ts";
import { CallError, Calls } from "@jobferry/shared/runtime/calls.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { createLogger, type LogLevel } from "@jobferry/shared/runtime/logger.ts";
import { LogError } from "../pods/log-reader.ts";
import { type LogQuestions, type LogService, type LogServiceOptions, startLogService } from "./log-service.ts";

const ROLE = "jobferry-manager-logs";
/** Of its objects; the bytes of logs are beside them, and bounded by the windows of the readers. */
const MAX_HEAP_MIB = 128;

interface ThreadData extends Pick<LogServiceOptions, "kubelet" | "endpoint"> {
  readonly role: typeof ROLE;
  readonly redis: RedisConfig;
  readonly logLevel: LogLevel;
}

/** Its `error` rejects when the thread ends by itself, which it should not. */
export async function startLogThread(
  data: Omit<ThreadData, "role">,
  questions: LogQuestions,
): Promise<LogService & { readonly failed: Promise<never> }> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { ...data, role: ROLE } satisfies ThreadData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  let isClosing = false;
  const failed = new Promise<never>((_, reject) => {
    worker.on("error", reject);
    worker.on("exit", () => isClosing || reject(new Error("the thread of logs has ended")));
  });
  failed.catch(() => {});
  // It must not keep a program going that has ended otherwise.
  worker.unref();
  const calls = new Calls(worker, { ...questions });
  const ports = await Promise.race([calls.call<Pick<LogService, "kubeletPort" | "endpointPort">>("start"), failed]);
  return {
    ...ports,
    failed,
    trust: (clientCa) => void calls.call("trust", clientCa).catch(() => {}),
    handOver: () => void calls.call("handOver").catch(() => {}),
    close: async () => {
      isClosing = true;
      await Promise.race([calls.call("close"), failed]).catch(() => {});
      await worker.terminate();
    },
  };
}

/** In the thread. */
function serve(port: NonNullable<typeof parentPort>, { redis, logLevel, kubelet, endpoint }: ThreadData): void {
  const lanes = new RedisLanes(redis, realClock, true);
  const logger = createLogger({ name: "jobferry-manager", level: logLevel });
  const known = (error: unknown): never => {
    throw error instanceof CallError && error.code !== undefined
      ? new LogError({ code: error.code, message: error.message })
      : error;
  };
  let service: LogService | undefined;
  const calls = new Calls(port, {
    start: async () => {
      service = await startLogService({ questions, lanes, logger, kubelet, endpoint });
      return { kubeletPort: service.kubeletPort, endpointPort: service.endpointPort };
    },
    trust: (clientCa: string) => service?.trust(clientCa),
    handOver: () => service?.handOver(),
    close: async () => {
      await service?.close();
      await lanes.close();
    },
  });
  const questions: LogQuestions = {
    isAllowed: (caller) => calls.call("isAllowed", caller),
    shown: (container) => calls.call<never>("shown", container).catch(known),
    ticketed: (asked) => calls.call<never>("ticketed", asked).catch(known),
    ask: (asked) => calls.call("ask", asked),
  };
}

if (!isMainThread && parentPort !== null && (workerData as Partial<ThreadData> | null)?.role === ROLE)
  serve(parentPort, workerData as ThreadData);
