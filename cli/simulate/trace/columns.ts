/** The trace of Jobs that docs/simulate.md describes: one line each. */

import { resourceUnits, unitsOf } from "@jobferry/shared/job/requests.ts";
import { parseLabelSelector } from "@jobferry/shared/kube/label-selector.ts";
import { DEFAULT_QUEUE } from "@jobferry/shared/protocol/marks.ts";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { nearestName } from "@jobferry/shared/runtime/nearest-name.ts";
import { type CsvFile, type CsvRow, placeOf } from "./csv.ts";
import { secondsOf } from "./seconds.ts";
import { type JobShape, ShapePool, type TraceJob } from "./trace-job.ts";

const COLUMNS = [
  "name",
  "namespace",
  "queue",
  "priority",
  "arrival",
  "run",
  "pods",
  "gang",
  "node-labels",
  "tolerations",
  "cluster-selector",
] as const;
type Column = (typeof COLUMNS)[number];
const RESOURCES = ["cpu", "memory", "ephemeral-storage"];
const REQUIRED: readonly Column[] = ["arrival", "run"];
const MOST_PODS = 100_000;
const MOST_PRIORITY = 1_000_000;

export function readColumns(file: CsvFile): TraceJob[] {
  const resources = resourcesOf(file);
  const pool = new ShapePool();
  return file.rows.map((row, i) => jobOf(new Reader(file, row), resources, pool, i + 1));
}

/** Columns that are none of ours name resources. */
function resourcesOf({ path, columns }: CsvFile): string[] {
  const missing = REQUIRED.filter((column) => !columns.includes(column));
  const twice = columns.find((column, i) => columns.indexOf(column) !== i);
  if (twice !== undefined) throw new ConfigError(`${path}: column ${twice} is there twice`);
  const resources = columns.filter((column) => !(COLUMNS as readonly string[]).includes(column));
  const strange = resources.find((column) => !RESOURCES.includes(column) && !column.includes("/"));
  if (strange !== undefined) {
    const like = nearestName(strange, [...COLUMNS, ...RESOURCES]);
    const hint = like === undefined ? "" : `, did you mean ${like}?`;
    const known = [...COLUMNS, ...RESOURCES].join(", ");
    throw new ConfigError(
      `${path}, column ${columns.indexOf(strange) + 1}: no such column: ${strange}${hint} There are ${known}, and resources with a slash such as nvidia.com/gpu`,
    );
  }
  if (missing.length > 0) throw new ConfigError(`${path}: column ${missing.join(" and ")} is missing`);
  return resources;
}

function jobOf(row: Reader, resources: readonly string[], pool: ShapePool, number: number): TraceJob {
  const perPod = new Map<string, number>();
  for (const resource of resources) {
    const units = row.quantity(resource);
    if (units > 0) perPod.set(resource, units);
  }
  const shape: JobShape = {
    namespace: row.text("namespace", "default"),
    queue: row.text("queue", DEFAULT_QUEUE),
    priority: row.whole("priority", 0, 0, MOST_PRIORITY),
    pods: row.whole("pods", 1, 1, MOST_PODS),
    gang: row.truth("gang"),
    perPod,
    nodeLabels: row.pairs("node-labels").map(({ key, value }) => ({ key, values: (value ?? "").split("|") })),
    tolerations: row.pairs("tolerations"),
    clusterSelector: row.selector("cluster-selector"),
  };
  return {
    name: row.text("name", `job-${number}`),
    arrivalMs: 1000 * row.seconds("arrival"),
    runMs: Math.max(1, 1000 * row.seconds("run")),
    shape: pool.of(shape),
  };
}

/** The cells of one row; what cannot be understood is named by line and column. */
class Reader {
  readonly #file: CsvFile;
  readonly #row: CsvRow;

  constructor(file: CsvFile, row: CsvRow) {
    this.#file = file;
    this.#row = row;
  }

  text(column: string, fallback: string): string {
    const cell = this.#row.cells[this.#file.columns.indexOf(column)]?.trim() ?? "";
    return cell === "" ? fallback : cell;
  }

  whole(column: string, fallback: number, least: number, most: number): number {
    const text = this.text(column, String(fallback));
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw this.#fault(column, `${JSON.stringify(text)} is not a whole number from ${least} to ${most}`);
  }

  truth(column: string): boolean {
    const text = this.text(column, "false");
    if (text !== "true" && text !== "false")
      throw this.#fault(column, `${JSON.stringify(text)} is neither true nor false`);
    return text === "true";
  }

  seconds(column: string): number {
    const text = this.text(column, "");
    const seconds = secondsOf(text);
    if (seconds !== undefined) return seconds;
    throw this.#fault(column, `${JSON.stringify(text)} is not a time in seconds (90.5), or such as 15m or 1h30m`);
  }

  quantity(column: string): number {
    const text = this.text(column, "0");
    const units = unitsOf(text);
    if (units !== undefined && units >= 0) return resourceUnits(column, text);
    throw this.#fault(column, `${JSON.stringify(text)} is not a quantity such as 500m, 2 or 4Gi`);
  }

  /** `key=value;key`. */
  pairs(column: string): { key: string; value: string | undefined }[] {
    const parts = this.text(column, "").split(";");
    return parts
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map((part) => {
        const [key = "", ...rest] = part.split("=");
        if (key === "" || (column === "node-labels" && rest.length === 0))
          throw this.#fault(column, `${JSON.stringify(part)} is not key=value`);
        return { key, value: rest.length === 0 ? undefined : rest.join("=") };
      });
  }

  selector(column: string): string {
    const text = this.text(column, "");
    try {
      parseLabelSelector(text);
      return text;
    } catch (error) {
      throw this.#fault(column, `${JSON.stringify(text)} is not a label selector: ${(error as Error).message}`);
    }
  }

  #fault(column: string, what: string): ConfigError {
    return new ConfigError(`${placeOf(this.#file, this.#row, column)}: ${what}`);
  }
}
