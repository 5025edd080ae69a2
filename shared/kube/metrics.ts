import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RequestObservation } from "./client.ts";
import type { MeasureQueue, WorkQueueGauges } from "./workqueue.ts";

/** A registry with the metrics of the process itself; each program has one and hands it down. */
export function createRegistry(labels: Record<string, string> = {}): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** The buckets of client-go: from 10 ns to 10 s there, from 0.1 ms here, as no JavaScript is faster. */
const QUEUE_BUCKETS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60, 300, 1000];

/** Kubernetes' own metrics of work queues, so that its dashboards and alerts fit. One call serves all queues of a program. */
export function workQueueMetrics(registry: Registry): MeasureQueue {
  // By name: a manager that leads again has new queues under the old names.
  const queues = new Map<string, WorkQueueGauges>();
  const shared = { labelNames: ["name"] as const, registers: [registry] };
  const gauge = (name: string, help: string, read: (queue: WorkQueueGauges) => number): void => {
    new Gauge({
      ...shared,
      name,
      help,
      collect() {
        for (const queue of queues.values()) this.set({ name: queue.name }, read(queue));
      },
    });
  };
  gauge("workqueue_depth", "Keys in line", (queue) => queue.depth);
  gauge(
    "workqueue_unfinished_work_seconds",
    "How long the keys now being processed have been, in all",
    (queue) => queue.unfinishedWorkMs().total / 1000,
  );
  gauge(
    "workqueue_longest_running_processor_seconds",
    "How long the oldest key now being processed has been",
    (queue) => queue.unfinishedWorkMs().longest / 1000,
  );
  const adds = new Counter({ ...shared, name: "workqueue_adds_total", help: "Keys added" });
  const retries = new Counter({ ...shared, name: "workqueue_retries_total", help: "Keys added again after a failure" });
  const timing = { ...shared, buckets: QUEUE_BUCKETS };
  const waited = new Histogram({ ...timing, name: "workqueue_queue_duration_seconds", help: "Time a key was in line" });
  const worked = new Histogram({ ...timing, name: "workqueue_work_duration_seconds", help: "Time to process a key" });
  return (queue) => {
    queues.set(queue.name, queue);
    const labels = { name: queue.name };
    return {
      added: () => adds.inc(labels),
      retried: () => retries.inc(labels),
      taken: (ms) => waited.observe(labels, ms / 1000),
      processed: (ms) => worked.observe(labels, ms / 1000),
    };
  };
}

/** For `onRequest` of a client, under client-go's names. */
export function clientMetrics(registry: Registry): (observation: RequestObservation) => void {
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server, retries included; code 0 means no answer",
    labelNames: ["method", "resource", "code"],
    registers: [registry],
  });
  const durations = new Histogram({
    name: "rest_client_request_duration_seconds",
    help: "Time until the API server's answer was complete (of a watch: until it began)",
    labelNames: ["method", "resource"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    registers: [registry],
  });
  return ({ method, resource, code, durationMs }) => {
    requests.inc({ method, resource, code: String(code) });
    durations.observe({ method, resource }, durationMs / 1000);
  };
}

/** Messages that were refused, by the cluster they came from or were for; `code` is one of shared/protocol's, or says what was wrong. */
export function refusalMetrics(registry: Registry): (cluster: string, code: string) => void {
  const refused = new Counter({
    name: "jobferry_messages_refused_total",
    help: "Messages that were not acted upon, by what was wrong with them",
    labelNames: ["cluster", "code"],
    registers: [registry],
  });
  return (cluster, code) => refused.inc({ cluster, code });
}

/** For `onDropped` of an event recorder. */
export function eventMetrics(registry: Registry): (why: string) => void {
  const dropped = new Counter({
    name: "jobferry_events_dropped_total",
    help: "Events that were not written: too many of one object (spam), in all (flood), waiting (full), or refused (rejected)",
    labelNames: ["why"],
    registers: [registry],
  });
  return (why) => dropped.inc({ why });
}
