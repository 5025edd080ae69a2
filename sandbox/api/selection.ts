import { type LabelMatcher, parseLabelSelector, SelectorError } from "@jobferry/shared/kube/label-selector.ts";
import { type FieldSelector, parseFieldSelector } from "../selectors/fields.ts";

import type { Stored } from "../store/frozen.ts";
import type { Matches } from "../store/watcher.ts";
import { badRequest } from "./errors.ts";
import { labelValue, qualifiedName } from "./names.ts";
import type { ResourceType } from "./types.ts";

const SERVER_WORDS = { key: qualifiedName, value: labelValue };

export interface SelectorTexts {
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Which objects a list or watch is about. */
export interface Selection {
  /** undefined: all. */
  readonly matches: Matches | undefined;
  /** Set when the selection names one object. */
  readonly name: string | undefined;
}

export function parseSelection(type: ResourceType, texts: SelectorTexts): Selection {
  try {
    const labels =
      texts.labelSelector === undefined ? undefined : parseLabelSelector(texts.labelSelector, SERVER_WORDS);
    const fields = texts.fieldSelector === undefined ? undefined : parseFieldSelector(texts.fieldSelector);
    return { matches: matcher(type, labels, fields), name: fields?.pinned("metadata.name") };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

function matcher(
  type: ResourceType,
  labels: LabelMatcher | undefined,
  fields: FieldSelector | undefined,
): Matches | undefined {
  for (const { field } of fields?.requirements ?? [])
    if (readField(type, field) === undefined) throw badRequest(type.unsupportedField(field));
  if (fields === undefined) return labels === undefined ? undefined : (object) => labels(object.metadata.labels);
  const byFields: Matches = (object) => fields.matches((field) => readField(type, field)?.(object) ?? "");
  return labels === undefined ? byFields : (object) => labels(object.metadata.labels) && byFields(object);
}

function readField(type: ResourceType, field: string): ((object: Stored) => string) | undefined {
  if (field === "metadata.name") return (object) => object.metadata.name;
  if (field === "metadata.namespace" && type.namespaced) return (object) => object.metadata.namespace ?? "";
  return Object.hasOwn(type.selectableFields, field) ? type.selectableFields[field] : undefined;
}
