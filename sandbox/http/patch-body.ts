import type { Patch } from "@jobferry/shared/kube/api.ts";
import { badRequest, failure } from "../api/errors.ts";
import { goKindOf } from "../schema/decode.ts";
import { isRecord } from "../store/frozen.ts";
import { goComplaint } from "./go-json.ts";
import { flag, readYaml } from "./request.ts";

const PATCH_TYPES: Record<string, Patch["type"]> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** A patch from its media type and body. */
export function readPatch(mediaType: string, body: string, query: URLSearchParams): Patch {
  const type = PATCH_TYPES[mediaType];
  if (type === undefined) throw failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  if (type === "apply") return readApply(readYaml(body), query);
  const value = parsePatch(body, type);
  if (type === "json") {
    if (!Array.isArray(value) || !value.every(isRecord)) throw wrongPatch(value, "[]handlers.jsonPatchOp");
    return { type, body: value };
  }
  if (!isRecord(value)) throw wrongPatch(value, "map[string]interface {}");
  return { type, body: value };
}

function wrongPatch(value: unknown, expected: string): Error {
  const found = goKindOf(value);
  return badRequest(`error decoding patch: json: cannot unmarshal ${found} into Go value of type ${expected}`);
}

function readApply(body: unknown, query: URLSearchParams): Patch {
  if (!isRecord(body)) throw badRequest("error decoding YAML: the apply configuration must be an object");
  const fieldManager = query.get("fieldManager") ?? "";
  return { type: "apply", body, fieldManager, force: flag(query, "force") ?? false };
}

function parsePatch(body: string, type: Patch["type"]): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badRequest(`${type === "strategic" ? "" : "error decoding patch: "}${goComplaint(body)}`);
  }
}
