/**
 * Sends logs from a thread of its own. Bytes of logs leave much garbage, and whoever collects it stops all that runs in the same
 * thread: the Job controller shall not wait for that.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { findAccess } from "@jobferry/shared/kube/access.ts";
import { createClient } from "@jobferry/shared/kube/client.ts";
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { RedisConfig } from "@jobferry/shared/queue/redis-config.ts";
import { RedisLanes } from "@jobferry/shared/queue/redis-lanes.ts";
import { Calls } from "@jobferry/shared/runtime/calls.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { createLogger, type Logger, type LogLevel } from "@jobferry/shared/runtime/logger.ts";
import { LogSender, type LogTaker } from "./log-sender.ts";
import type { MirrorPods } from "./mirror-pods.ts";

const ROLE = "jobferry-agent-logs";
/** Of its objects; the bytes of logs are beside them, and bounded by the windows of the readers. */
const MAX_HEAP_MIB = 128;

interface ThreadData {
  readonly role: typeof ROLE;
  readonly redis: RedisConfig;
  readonly cluster: ClusterName;
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly env: Record<string, string | undefined>;
  readonly logLevel: LogLevel;
}

type Pods = Pick<MirrorPods, "find" | "list">;
type Handed = Parameters<Pods["find"]>;

export function logThread(data: Omit<ThreadData, "role">, pods: Pods, logger: Logger): LogTaker {
  let running: { readonly worker: Worker; readonly calls: Calls } | undefined;
  const start = () => {
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...data, role: ROLE } satisfies ThreadData,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    const calls = new Calls(worker, {
      find: ([mirror, pod]: Handed) => pods.find(mirror, pod),
      list: (mirror: Handed[0]) => pods.list(mirror),
    });
    // Readers are told by its silence; the next one starts another.
    worker.on("error", (error) => logger.error({ error }, "the thread of logs has failed"));
    worker.on("exit", () => {
      running = undefined;
    });
    // It must not keep a program going that has ended otherwise.
    worker.unref();
    running = { worker, calls };
    return running;
  };
  // Before anybody asks: who reads the first log should not wait for it to start.
  start();
  return {
    take: (request) => {
      (running ?? start()).calls
        .call("take", request)
        .catch((error: unknown) => logger.warn({ error }, "a log could not be asked for"));
    },
    stop: async () => {
      if (running === undefined) return;
      const { worker, calls } = running;
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      await Promise.race([calls.call("stop"), ended]).catch(() => {});
      await worker.terminate();
    },
  };
}

/** In the thread. */
async function serve(port: NonNullable<typeof parentPort>, data: ThreadData): Promise<void> {
  const logger = createLogger({ name: "jobferry-agent", level: data.logLevel });
  const lanes = new RedisLanes(data.redis, realClock, false);
  const opened = findAccess({ kubeconfig: data.kubeconfig, context: data.context, env: data.env });
  const sender = opened.then((access) => {
    const logs = createClient(access, { userAgent: "jobferry-agent/logs" });
    const pods: Pods = {
      find: (...asked) => calls.call("find", asked),
      list: (mirror) => calls.call("list", mirror),
    };
    return new LogSender({ logs, lanes, pods, logger, clock: realClock, cluster: data.cluster });
  });
  const calls = new Calls(port, {
    take: async (request: ReadLog | ListPods) => (await sender).take(request),
    stop: async () => {
      await (await sender).stop();
      await lanes.close();
    },
  });
}

if (!isMainThread && parentPort !== null && (workerData as Partial<ThreadData> | null)?.role === ROLE)
  void serve(parentPort, workerData as ThreadData);
