import { Gauge, type Registry } from "prom-client";

/** What the metrics show of the manager; undefined while this one stands by. */
interface Shown {
  readonly lossTimersFrozen: boolean;
  /** Jobs that wait for a cluster. */
  readonly waiting: number;
}

/** The manager's own metrics; a standby shows zero. */
export function managerMetrics(registry: Registry, leader: () => Shown | undefined): void {
  const gauge = (name: string, help: string, read: (shown: Shown) => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const shown = leader();
        this.set(shown === undefined ? 0 : read(shown));
      },
    });
  };
  gauge(
    "jobferry_loss_timers_frozen",
    "1 while most clusters are silent at once, so that none of them is counted as lost",
    ({ lossTimersFrozen }) => (lossTimersFrozen ? 1 : 0),
  );
  gauge("jobferry_jobs_waiting", "Jobs that wait for a cluster", ({ waiting }) => waiting);
}
