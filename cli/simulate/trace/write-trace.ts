import type { TraceJob } from "./trace-job.ts";

/** As `readTrace` reads it. */
export function traceText(jobs: readonly TraceJob[]): string {
  const resources = new Set(jobs.flatMap(({ shape }) => [...shape.perPod.keys()]));
  const lines = jobs.map(({ name, arrivalMs, runMs, shape }) => {
    const { queue, pods, perPod, nodeLabels } = shape;
    const labels = nodeLabels.map(({ key, values }) => `${key}=${values.join("|")}`).join(";");
    const amounts = [...resources].map((resource) => quantity(resource, perPod.get(resource) ?? 0));
    return [name, queue, arrivalMs / 1000, runMs / 1000, pods, ...amounts, labels].join();
  });
  return `${[["name", "queue", "arrival", "run", "pods", ...resources, "node-labels"].join(), ...lines].join("\n")}\n`;
}

const quantity = (resource: string, units: number): string =>
  units === 0 ? "" : resource === "cpu" ? `${units}m` : resource === "memory" ? `${units / 2 ** 20}Mi` : String(units);
