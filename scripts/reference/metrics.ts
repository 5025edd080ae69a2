import { managerMetrics } from "../../manager/metrics.ts";
import {
  clientMetrics,
  createRegistry,
  eventMetrics,
  refusalMetrics,
  workQueueMetrics,
} from "../../shared/kube/metrics.ts";
import { JobMetrics } from "../../worker-agent/job-controller/metrics.ts";
import { code, type Page, table } from "./markdown.ts";

type Registry = ReturnType<typeof createRegistry>;

/** What each program puts into its registry. */
const PROGRAMS: Record<string, (registry: Registry) => void> = {
  manager: (registry) => {
    clientMetrics(registry);
    eventMetrics(registry);
    refusalMetrics(registry);
    workQueueMetrics(registry);
    managerMetrics(registry, () => undefined);
  },
  agent: (registry) => {
    clientMetrics(registry);
    eventMetrics(registry);
    refusalMetrics(registry);
    workQueueMetrics(registry);
    new JobMetrics(registry);
  },
};

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly programs: string[];
}

/** Of the Node process itself; listed by prefix. */
const isOwn = (name: string): boolean => !/^(process|nodejs)_/.test(name);

async function metricsOf(fill: (registry: Registry) => void): Promise<Omit<Metric, "programs">[]> {
  const registry = createRegistry();
  fill(registry);
  const described = await registry.getMetricsAsJSON();
  return described
    .filter(({ name }) => isOwn(name))
    .map(({ name, help, type }) => {
      const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: string[] };
      return { name, help, type: String(type), labels: labelNames };
    });
}

export async function allMetrics(): Promise<Metric[]> {
  const found = new Map<string, Metric>();
  for (const [program, fill] of Object.entries(PROGRAMS))
    for (const metric of await metricsOf(fill)) {
      const known = found.get(metric.name) ?? { ...metric, programs: [] };
      known.programs.push(program);
      found.set(metric.name, known);
    }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export async function metricsPage(): Promise<Page> {
  const rows = (await allMetrics()).map(({ name, type, labels, programs, help }) => [
    code(name),
    type,
    labels.join(", "),
    programs.join(", "),
    help,
  ]);
  return {
    file: "metrics.md",
    title: "Metrics",
    from: "the registries of the programs",
    body: [
      "Manager and agents serve them as Prometheus text under `/metrics` of `--metrics-port`. The Job controller's and the work queues'",
      "have the names of Kubernetes' own, so that its dashboards and alerts fit. `jobferry-agent jobs` serves those of the agent without",
      "`jobferry_messages_refused_total`. Those of the Node process (`process_*`, `nodejs_*`) come on top.",
      "",
      table(["metric", "type", "labels", "of", "meaning"], rows),
    ].join("\n"),
  };
}
