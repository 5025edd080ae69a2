import { readFileSync } from "node:fs";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { readColumns } from "./columns.ts";
import { parseCsv } from "./csv.ts";
import { isGpuTasks, readGpuTasks } from "./gpu-tasks.ts";
import type { TraceJob } from "./trace-job.ts";

/** In the order of arrival, the first of them at zero. */
export function readTrace(path: string): TraceJob[] {
  return parseTrace(path, textOf(path, "trace"));
}

export function textOf(path: string, what: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new ConfigError(`the ${what} ${path} cannot be read: ${why}`, { cause });
  }
}

export function parseTrace(path: string, text: string): TraceJob[] {
  const file = parseCsv(path, text);
  const jobs = isGpuTasks(file) ? readGpuTasks(file) : readColumns(file);
  if (jobs.length === 0) throw new ConfigError(`${path}: there is no Job in it`);
  const first = jobs.reduce((least, { arrivalMs }) => Math.min(least, arrivalMs), Number.POSITIVE_INFINITY);
  return jobs
    .map((job) => ({ ...job, arrivalMs: job.arrivalMs - first }))
    .sort((one, other) => one.arrivalMs - other.arrivalMs);
}
