/** The Job controller with its event recorder and metrics, for programs that embed it and for `jobferry-agent jobs`. */
import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { eventMetrics, workQueueMetrics } from "@jobferry/shared/kube/metrics.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { Registry } from "prom-client";
import { JobController, type JobControllerOptions } from "./controller.ts";
import { JobMetrics } from "./metrics.ts";

export interface RunOptions extends Omit<JobControllerOptions, "metrics" | "emit"> {
  /** Where the metrics go; a registry of its own unless given. */
  registry?: Registry;
  /** Which events are written; all unless given. */
  events?: "all" | "warnings";
  /** Bounds the Normal ones among them. */
  normalEvents?: { perSecond: number; burst: number };
}

export interface RunningJobController {
  /** Both caches are filled and syncs run. */
  readonly ready: boolean;
  readonly registry: Registry;
  /** Resolves as soon as `ready`. */
  readonly started: Promise<void>;
  /** Looks at every Job again: what the claim leaves out has changed. */
  syncAll(): void;
  /** Finishes the writes under way; what is left is continued by whoever comes next. */
  stop(): Promise<void>;
  /** Ends at once, as a crash would; for tests of what a successor makes of it. */
  abandon(): void;
}

/** K-10 */
const COMPONENT = "job-controller";
/** Events are a courtesy: they get this long to leave when we stop. */
const EVENT_FLUSH_MS = 500;

export function runJobController(options: RunOptions): RunningJobController {
  const { api, clock, logger, registry = new Registry(), events = "all", normalEvents } = options;
  const queueMetrics = options.queueMetrics ?? workQueueMetrics(registry);
  const recorder = new EventRecorder({
    ...{ api, clock, component: COMPONENT, onDropped: eventMetrics(registry), queueMetrics },
    ...(logger && { logger }),
    ...(normalEvents && { normal: normalEvents }),
  });
  const controller = new JobController({
    ...options,
    metrics: new JobMetrics(registry),
    queueMetrics,
    emit: (job, { type, reason, message }) => {
      if (events === "all" || type === "Warning") recorder.record(jobs, job, type, reason, message);
    },
  });
  const started = controller.start();
  return {
    registry,
    started,
    get ready() {
      return controller.ready;
    },
    syncAll: () => controller.syncAll(),
    stop: async () => {
      await controller.stop();
      await recorder.stop(EVENT_FLUSH_MS);
    },
    abandon: () => {
      controller.abandon();
      void recorder.stop(0);
    },
  };
}
