import type { Column } from "../api/columns.ts";
import type { ResourceType } from "../api/types.ts";
import { ageColumn, nameColumn } from "../kinds/columns.ts";
import type { Stored } from "../store/frozen.ts";

const columnsOf = (type: ResourceType): readonly Column[] =>
  type.columns.length > 0 ? type.columns : [nameColumn, ageColumn];

const definition = ({ name, type, format = "", description = "", priority }: Column) => ({
  name,
  type,
  format,
  description,
  priority,
});

/** How much of each object goes along with its row. */
export type RowObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  readonly nowMs: number;
  readonly include: RowObject;
  /** Watches repeat the column definitions only in their first event. */
  readonly withDefinitions: boolean;
}

/** `meta.k8s.io/v1` Table, which kubectl prints as it is. */
export function tableOf(type: ResourceType, objects: readonly Stored[], metadata: object, options: TableOptions) {
  const columns = columnsOf(type);
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.withDefinitions ? columns.map(definition) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => column.value(object, options.nowMs)),
      ...rowObject(object, options.include),
    })),
  };
}

function rowObject(object: Stored, include: RowObject): object {
  if (include === "None") return {};
  return { object: include === "Object" ? object : partialMetadata(object) };
}

export const partialMetadata = (object: { metadata: object }) => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: object.metadata,
});
