/**
 * The task list of a public trace of GPU clusters (Alibaba, cluster-trace-gpu-v2023). A task is a Job of one pod; tasks of one
 * shape that were created in the same second are the pods of one Job. A part of a GPU counts as a whole one.
 */
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { type CsvFile, type CsvRow, placeOf } from "./csv.ts";
import { type JobShape, ShapePool, type TraceJob } from "./trace-job.ts";

export const GPU = "nvidia.com/gpu";
export const GPU_MODEL = "nvidia.com/gpu.product";
const COLUMNS = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_spec", "qos", "creation_time", "deletion_time"];
const MIB = 2 ** 20;

export const isGpuTasks = ({ columns }: CsvFile): boolean => COLUMNS.every((column) => columns.includes(column));

export function readGpuTasks(file: CsvFile): TraceJob[] {
  const pool = new ShapePool();
  const jobs = new Map<string, { name: string; arrivalMs: number; runMs: number; shape: JobShape; pods: number }>();
  for (const row of file.rows) {
    const text = (column: string): string => row.cells[file.columns.indexOf(column)] ?? "";
    const created = numberOf(file, row, "creation_time");
    // A task that was never scheduled has no such time.
    const began = text("scheduled_time") === "" ? created : numberOf(file, row, "scheduled_time");
    const seconds = Math.max(1, numberOf(file, row, "deletion_time") - began);
    const shape = pool.of(shapeOf(file, row, text));
    const key = JSON.stringify([created, [...shape.perPod], shape.nodeLabels, shape.queue]);
    const known = jobs.get(key);
    if (known === undefined)
      jobs.set(key, { name: text("name"), arrivalMs: created * 1000, runMs: seconds * 1000, shape, pods: 1 });
    else known.pods++;
  }
  return [...jobs.values()].map(({ pods, shape, ...job }) => ({ ...job, shape: pool.of({ ...shape, pods }) }));
}

function shapeOf(file: CsvFile, row: CsvRow, text: (column: string) => string): JobShape {
  const gpus = numberOf(file, row, "num_gpu");
  const models = [...new Set(text("gpu_spec").split("|"))].filter((model) => model !== "");
  return {
    namespace: "default",
    queue: text("qos").toLowerCase(),
    priority: 0,
    pods: 1,
    gang: false,
    perPod: new Map([
      ["cpu", numberOf(file, row, "cpu_milli")],
      ["memory", numberOf(file, row, "memory_mib") * MIB],
      ...(gpus > 0 ? [[GPU, gpus] as const] : []),
    ]),
    nodeLabels: models.length === 0 ? [] : [{ key: GPU_MODEL, values: models }],
    tolerations: [],
    clusterSelector: "",
  };
}

function numberOf(file: CsvFile, row: CsvRow, column: string): number {
  const text = row.cells[file.columns.indexOf(column)] ?? "";
  if (/^\d{1,15}(\.\d+)?$/.test(text)) return Math.round(Number(text));
  throw new ConfigError(`${placeOf(file, row, column)}: ${JSON.stringify(text)} is not a number`);
}
