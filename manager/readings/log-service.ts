/** Everything that bytes of logs pass in the manager: two servers, the readings, and their way through Redis. */
import type { ListPods, ReadLog } from "@jobferry/shared/protocol/delivery.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Lanes } from "@jobferry/shared/queue/lanes.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import type { Caller } from "../pods/kubelet-callers.ts";
import { type KubeletServerOptions, startKubeletServer } from "../pods/kubelet-server.ts";
import { LogReader, type LogTarget } from "../pods/log-reader.ts";
import type { ShownContainer } from "../pods/shown-logs.ts";
import { type LogEndpointOptions, startLogEndpoint } from "./endpoint.ts";
import type { JobTarget } from "./job-logs.ts";
import type { ReadingRequest } from "./reading-request.ts";

/** What only the manager itself can say. `shown` and `ticketed` reject with LogError. */
export interface LogQuestions {
  isAllowed(caller: Caller): Promise<boolean>;
  shown(container: ShownContainer): Promise<LogTarget>;
  ticketed(asked: { reading: ReadingRequest["reading"]; ticket: string }): Promise<JobTarget | undefined>;
  ask(asked: { cluster: ClusterName; what: ReadLog | ListPods }): Promise<void>;
}

type Address = Pick<LogEndpointOptions, "host" | "port" | "certificate">;

export interface LogServiceOptions {
  readonly questions: LogQuestions;
  readonly lanes: Lanes;
  readonly logger: Logger;
  /** The virtual node's kubelet; unless given there is none. */
  readonly kubelet?: (Address & Pick<KubeletServerOptions, "clientCa">) | undefined;
  /** Where `jobferry logs` asks. */
  readonly endpoint?: Address | undefined;
}

export interface LogService {
  readonly kubeletPort: number | undefined;
  readonly endpointPort: number | undefined;
  /** Others sign certificates of the API server from now on. */
  trust(clientCa: string): void;
  /** Another manager leads from now on. */
  handOver(): void;
  close(): Promise<void>;
}

export async function startLogService(options: LogServiceOptions): Promise<LogService> {
  const { questions, lanes, logger } = options;
  const reader = new LogReader({ lanes, clock: realClock, ask: (cluster, what) => questions.ask({ cluster, what }) });
  const kubelet =
    options.kubelet &&
    (await startKubeletServer({
      ...options.kubelet,
      logger,
      isAllowed: (caller) => questions.isAllowed(caller),
      open: async (container, wish, gone) => reader.read(await questions.shown(container), wish, gone),
    }));
  const endpoint =
    options.endpoint &&
    (await startLogEndpoint({
      ...options.endpoint,
      logger,
      jobOf: (reading, ticket) => questions.ticketed({ reading, ticket }),
      open: async (job, asked, gone) =>
        asked.wants === "pods"
          ? reader.list(job, gone)
          : reader.read({ ...job, pod: asked.pod, container: asked.container }, asked.options, gone),
    }));
  return {
    kubeletPort: kubelet?.port,
    endpointPort: endpoint?.port,
    trust: (clientCa) => kubelet?.trust(clientCa),
    handOver: () => reader.handOver(),
    close: async () => {
      await Promise.all([kubelet?.close(), endpoint?.close()]);
      await reader.stop();
    },
  };
}
