import type { Patch } from "@jobferry/shared/kube/api.ts";
import { JsonPatchError, jsonPatch } from "../patch/json.ts";
import { mergePatch } from "../patch/merge.ts";
import { MergeKeyError, PatchError, strategicMerge } from "../patch/strategic.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import type { Core, Key } from "./core.ts";
import { badRequest, failure, internalError, unprocessable } from "./errors.ts";
import type { ResourceType } from "./types.ts";
import { updateObject, type WriteOptions } from "./write.ts";

type PlainPatch = Exclude<Patch, { type: "apply" }>;

export function patchObject(
  core: Core,
  type: ResourceType,
  key: Key,
  patch: PlainPatch,
  options: WriteOptions = {},
): Stored {
  return updateObject(core, type, key, (before) => applyPatch(type, before, patch), { ...options, patched: true });
}

function applyPatch(type: ResourceType, before: Stored, patch: PlainPatch): unknown {
  switch (patch.type) {
    case "merge":
      return mergePatch(before, patch.body);
    case "json":
      return applyJsonPatch(before, patch.body);
    case "strategic":
      return applyStrategic(type, before, patch.body);
  }
}

function applyJsonPatch(before: Stored, operations: readonly object[]): unknown {
  try {
    return jsonPatch(before, operations);
  } catch (error) {
    if (error instanceof JsonPatchError) throw unprocessable();
    throw error;
  }
}

function applyStrategic(type: ResourceType, before: Stored, body: object): unknown {
  if (type.schemaKind === undefined)
    throw failure(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
  if (!isRecord(body)) throw badRequest("a strategic merge patch must be an object");
  try {
    return strategicMerge(type.schemaKind, before, body);
  } catch (error) {
    if (error instanceof PatchError) throw badRequest(error.message);
    if (error instanceof MergeKeyError) throw internalError(error.message);
    throw error;
  }
}
