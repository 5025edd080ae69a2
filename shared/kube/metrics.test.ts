import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { clientMetrics, createRegistry, workQueueMetrics } from "./metrics.ts";
import { WorkQueue } from "./workqueue.ts";

test("metrics of queues and calls come under Kubernetes' names", async () => {
  const registry = new Registry();
  const clock = new VirtualClock();
  const queue = new WorkQueue({
    name: "jobs",
    clock,
    concurrency: 1,
    backoff: { baseMs: 10, maxMs: 10 },
    process: () => new Promise(() => {}),
    metrics: workQueueMetrics(registry),
  });
  queue.start();
  for (const key of ["a", "b", "c"]) queue.add(key);
  await clock.advance(4000);
  clientMetrics(registry)({ method: "PATCH", resource: "pods", code: 200, durationMs: 30 });
  const text = await registry.metrics();
  for (const line of [
    'workqueue_depth{name="jobs"} 2',
    'workqueue_adds_total{name="jobs"} 3',
    'workqueue_unfinished_work_seconds{name="jobs"} 4',
    'workqueue_longest_running_processor_seconds{name="jobs"} 4',
    'workqueue_queue_duration_seconds_count{name="jobs"} 1',
    'rest_client_requests_total{method="PATCH",resource="pods",code="200"} 1',
    'rest_client_request_duration_seconds_count{method="PATCH",resource="pods"} 1',
  ])
    expect(text).toContain(line);
});

test("a program's registry has the process's own metrics and its labels", async () => {
  const text = await createRegistry({ cluster: "c1" }).metrics();
  expect(text).toMatch(/process_cpu_seconds_total\{cluster="c1"\}/);
});
