import type { Patch } from "@jobferry/shared/kube/api.ts";
import { conflicts, dropAbandoned } from "../patch/apply.ts";
import { mergePatch } from "../patch/merge.ts";
import { strategicMerge } from "../patch/strategic.ts";
import { type KindSchema, kindSchema } from "../schema/schema.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { type Core, type Key, namespaceOf } from "./core.ts";
import { badRequest, failure, invalid } from "./errors.ts";
import type { ResourceType } from "./types.ts";
import { createObject, updateObject, type WriteOptions } from "./write.ts";

type Fields = Record<string, unknown>;
type ApplyPatch = Extract<Patch, { type: "apply" }>;

/** Server-side apply. What each manager last applied is kept beside the objects instead of in `managedFields`. */
export class Applier {
  readonly #core: Core;
  readonly #applied = new Map<string, Map<string, Fields>>();

  constructor(core: Core) {
    this.#core = core;
    core.store.onChange(({ object }, _, deleted) => {
      if (deleted) this.#applied.delete(object.metadata.uid);
    });
  }

  apply(
    type: ResourceType,
    key: Key,
    patch: ApplyPatch,
    options: WriteOptions = {},
  ): { object: Stored; created: boolean } {
    const config = readConfig(type, key, patch);
    const before = this.#core.store.table(type).get(namespaceOf(type, key.namespace), key.name);
    const created = before === undefined;
    const object = created
      ? createObject(this.#core, type, key.namespace, patch.body, options)
      : this.#merge(type, key, before, config, patch, options);
    if (options.dryRun !== true) this.#remember(object, patch.fieldManager, config);
    return { object, created };
  }

  #merge(type: ResourceType, key: Key, live: Stored, config: Fields, patch: ApplyPatch, options: WriteOptions): Stored {
    const schema = type.schemaKind === undefined ? undefined : kindSchema(type.schemaKind);
    const applied = this.#applied.get(live.metadata.uid) ?? new Map<string, Fields>();
    const others = [...applied].filter(([manager]) => manager !== patch.fieldManager);
    if (patch.force !== true) refuseConflicts(schema, type, live, config, others);
    const before = applied.get(patch.fieldManager) ?? {};
    const kept = dropAbandoned(
      schema,
      live,
      before,
      config,
      others.map(([, fields]) => fields),
    );
    const merged =
      type.schemaKind === undefined ? mergePatch(kept, config) : strategicMerge(type.schemaKind, kept, config);
    return updateObject(this.#core, type, key, () => merged, { ...options, patched: true });
  }

  #remember(object: Stored, manager: string, config: Fields): void {
    const applied = this.#applied.get(object.metadata.uid) ?? new Map<string, Fields>();
    applied.set(manager, config);
    this.#applied.set(object.metadata.uid, applied);
  }
}

/** The configuration without what identifies the object, which nobody owns. */
function readConfig(type: ResourceType, key: Key, patch: ApplyPatch): Fields {
  if (patch.fieldManager === "")
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      { field: "fieldManager", kind: "Required", detail: "is required for apply patch" },
    ]);
  const body = patch.body as Fields;
  if (body.apiVersion !== type.apiVersion || body.kind !== type.kind)
    throw badRequest(
      `invalid object type: ${String(body.apiVersion ?? "")}, Kind=${String(body.kind ?? "")}; apply needs apiVersion and kind`,
    );
  const metadata = isRecord(body.metadata) ? body.metadata : {};
  if (metadata.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  if (metadata.name !== undefined && metadata.name !== key.name)
    throw badRequest(
      `the name of the object (${String(metadata.name)}) does not match the name on the URL (${key.name})`,
    );
  const { apiVersion: _a, kind: _k, ...rest } = body;
  const { name: _n, namespace: _ns, ...own } = metadata;
  return { ...rest, metadata: own };
}

function refuseConflicts(
  schema: KindSchema | undefined,
  type: ResourceType,
  live: Stored,
  config: Fields,
  others: readonly [string, Fields][],
): void {
  const found = others.flatMap(([manager, fields]) =>
    conflicts(schema, config, fields, live).map((field) => ({ manager, field })),
  );
  const [first] = found;
  if (first === undefined) return;
  const count = found.length === 1 ? "1 conflict" : `${found.length} conflicts`;
  const fields = found.map(({ field }) => field).join(", ");
  throw failure(409, "Conflict", `Apply failed with ${count}: conflict with "${first.manager}": ${fields}`, {
    name: live.metadata.name,
    kind: type.plural,
    ...(type.group === "" ? {} : { group: type.group }),
    causes: found.map(({ manager, field }) => ({
      reason: "FieldManagerConflict",
      message: `conflict with "${manager}"`,
      field,
    })),
  });
}
