import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** What the metrics show of the manager; undefined while this one stands by. */
interface Shown {
  readonly lossTimersFrozen: boolean;
  /** Jobs that wait for a cluster and Jobs that hold one. Queues that do not exist are together under the empty name. */
  queueLoads(): Iterable<{ readonly queue: string; readonly pending: number; readonly active: number }>;
  clusterLoads(): Iterable<ClusterLoad>;
  boxLoads(): Promise<readonly { readonly cluster: string; readonly box: string; readonly bytes: number }[]>;
}

interface ClusterLoad {
  readonly cluster: string;
  readonly connected: boolean;
  readonly active: number;
  readonly setAside: boolean;
}

/** Where a Job was, or is. */
interface Place {
  readonly queue: string;
  readonly cluster: string;
}

/** Hears of the transitions of Jobs. Only names of objects that exist become labels, so that no user can make many. */
export interface DispatchMetrics {
  /** `waitedSeconds` of its first assignment. */
  admitted(place: Place, waitedSeconds: number | undefined): void;
  /** Its first pod was seen. */
  started(place: Place, sinceCreatedSeconds: number): void;
  evicted(place: Place, reason: string): void;
  finished(place: Place, result: "succeeded" | "failed", sinceCreatedSeconds: number): void;
  /** A ConfigMap or Secret went to a cluster. */
  contentsSent(cluster: string, kind: string): void;
}

/** From a tenth of a second to three hours and a day: batch work waits. */
const WAIT_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 1_800, 3_600, 10_800, 86_400];

/** The manager's own metrics, named so that an operator of Kueue recognises them; the gauges of a standby are empty. */
export function managerMetrics(registry: Registry, leader: () => Shown | undefined): DispatchMetrics {
  const registers = [registry];
  new Gauge({
    name: "jobferry_loss_timers_frozen",
    help: "1 while most clusters are silent at once, so that none of them is counted as lost",
    registers,
    collect() {
      this.set(leader()?.lossTimersFrozen === true ? 1 : 0);
    },
  });
  new Gauge({
    name: "jobferry_pending_jobs",
    help: "Jobs that wait for a cluster; an empty queue is one that does not exist",
    labelNames: ["queue"],
    registers,
    collect() {
      this.reset();
      for (const { queue, pending } of leader()?.queueLoads() ?? []) this.set({ queue }, pending);
    },
  });
  new Gauge({
    name: "jobferry_admitted_active_jobs",
    help: "Jobs that hold a cluster and have not finished, by queue",
    labelNames: ["queue"],
    registers,
    collect() {
      this.reset();
      for (const { queue, active } of leader()?.queueLoads() ?? []) this.set({ queue }, active);
    },
  });
  const clusterGauge = (name: string, help: string, read: (load: ClusterLoad) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["cluster"],
      registers,
      collect() {
        this.reset();
        for (const load of leader()?.clusterLoads() ?? []) this.set({ cluster: load.cluster }, read(load));
      },
    });
  clusterGauge("jobferry_cluster_connected", "1 while the agent of a cluster is heard", ({ connected }) =>
    Number(connected),
  );
  clusterGauge(
    "jobferry_cluster_active_jobs",
    "Jobs that a cluster holds and has not finished",
    ({ active }) => active,
  );
  clusterGauge(
    "jobferry_cluster_set_aside",
    "1 while a cluster gets no Jobs, or one at a time, because Job after Job failed there at its start",
    ({ setAside }) => Number(setAside),
  );
  new Gauge({
    name: "jobferry_box_bytes",
    help: "Messages between manager and a cluster that wait in Redis or are in hand, in bytes; a box takes 64 MiB",
    labelNames: ["cluster", "box"],
    registers,
    async collect() {
      const loads = (await leader()?.boxLoads()) ?? [];
      this.reset();
      for (const { cluster, box, bytes } of loads) this.set({ cluster, box }, bytes);
    },
  });
  const counter = <T extends string>(name: string, help: string, ...more: T[]) =>
    new Counter({ name, help, registers, labelNames: ["queue", "cluster", ...more] });
  const seconds = (name: string, help: string) =>
    new Histogram({ name, help, registers, labelNames: ["queue", "cluster"], buckets: WAIT_BUCKETS });
  const admitted = counter("jobferry_admitted_jobs_total", "Assignments of Jobs to clusters, moves included");
  const evicted = counter(
    "jobferry_evicted_jobs_total",
    "Jobs that left a cluster unfinished: refused, handed-over (drain), unschedulable, preempted, lost, removed",
    "reason",
  );
  const finished = counter("jobferry_finished_jobs_total", "Jobs whose end is stored on the hub", "result");
  const waited = seconds(
    "jobferry_admission_wait_time_seconds",
    "From the creation of a Job, which the hub notes in whole seconds, to its first assignment",
  );
  const toPod = seconds(
    "jobferry_first_pod_seconds",
    "From the creation of a Job to the first status on the hub that shows a pod, on its first cluster",
  );
  const toEnd = seconds("jobferry_finish_seconds", "From the creation of a Job to its end on the hub");
  const contents = new Counter({
    name: "jobferry_contents_sent_total",
    help: "ConfigMaps and Secrets sent to clusters that did not have them",
    labelNames: ["cluster", "kind"],
    registers,
  });
  return {
    contentsSent: (cluster, kind) => contents.inc({ cluster, kind }),
    admitted: ({ queue, cluster }, waitedSeconds) => {
      admitted.inc({ queue, cluster });
      if (waitedSeconds !== undefined) waited.observe({ queue, cluster }, waitedSeconds);
    },
    started: ({ queue, cluster }, since) => toPod.observe({ queue, cluster }, since),
    evicted: ({ queue, cluster }, reason) => evicted.inc({ queue, cluster, reason }),
    finished: ({ queue, cluster }, result, since) => {
      finished.inc({ queue, cluster, result });
      toEnd.observe({ queue, cluster }, since);
    },
  };
}
