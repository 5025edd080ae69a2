import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import { frozenCopy, jsonEqual, type Stored } from "../store/frozen.ts";
import { type BodyOptions, readBody } from "./body.ts";
import { type Core, type Key, namespaceOf } from "./core.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  type FieldFault,
  internalError,
  invalid,
  modified,
  namespaceTerminating,
  notFound,
} from "./errors.ts";
import { sameSpec, validateMeta, validateMetaUpdate } from "./meta.ts";
import type { Draft, ResourceType } from "./types.ts";

export interface WriteOptions extends BodyOptions {
  readonly dryRun?: boolean | undefined;
  readonly subresource?: "status" | undefined;
}

type Metadata = Stored["metadata"];

const GENERATE_TRIES = 8;
const GENERATED_NAME_LIMIT = 63;
const SUFFIX_LENGTH = 5;

export function createObject(
  core: Core,
  type: ResourceType,
  namespace: string | undefined,
  body: unknown,
  options: WriteOptions = {},
): Stored {
  const draft = readBody(type, body, options);
  const place = checkNamespace(type, draft, namespace);
  if (draft.metadata.resourceVersion !== undefined && draft.metadata.resourceVersion !== "")
    throw internalError("resourceVersion should not be set on objects to be created");
  if (type.namespaced) checkNamespaceOpen(core, type, draft.metadata.name, place);
  const prepared = prepareNew(core, type, draft, place);
  const errors = validateNew(type, prepared);
  if (errors.length > 0) throw invalid(type, prepared.metadata.name, errors);
  for (const warning of type.strategy.createWarnings?.(prepared) ?? []) options.warn?.(warning);
  if (core.store.table(type).get(place, prepared.metadata.name) !== undefined)
    throw alreadyExists(type, prepared.metadata.name);
  return commit(core, type, prepared, options.dryRun ?? false);
}

function validateNew(type: ResourceType, draft: Draft): FieldFault[] {
  const own = type.strategy.validateCreate?.(draft) ?? [];
  return type.strategy.checksMetadata === true ? own : [...validateMeta(type, draft), ...own];
}

function checkNamespace(type: ResourceType, draft: Draft, namespace: string | undefined): string {
  const place = namespaceOf(type, namespace);
  if (draft.metadata.namespace !== undefined && draft.metadata.namespace !== "" && draft.metadata.namespace !== place)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (type.namespaced && place === "") throw badRequest("an empty namespace may not be set during creation");
  return place;
}

function checkNamespaceOpen(core: Core, type: ResourceType, name: string, namespace: string): void {
  const namespaces = core.registry.find("", "v1", "namespaces");
  if (namespaces === undefined) return;
  const object = core.store.table(namespaces).get("", namespace);
  if (object === undefined) throw notFound(namespaces, namespace);
  if (object.metadata.deletionTimestamp !== undefined) throw namespaceTerminating(type, name, namespace);
}

function prepareNew(core: Core, type: ResourceType, draft: Draft, namespace: string): Draft {
  const { name, generateName, labels, annotations, ownerReferences, finalizers } = draft.metadata;
  const metadata: Metadata = {
    name: name === "" && generateName !== undefined ? freeName(core, type, namespace, generateName) : name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(type.namespaced ? { namespace } : {}),
    uid: core.random.uid(),
    resourceVersion: "",
    ...(type.countsGenerations ? { generation: 1 } : {}),
    creationTimestamp: timestamp(core.clock.now()),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
  const defaulted = type.strategy.applyDefaults?.({ ...draft, metadata }) ?? { ...draft, metadata };
  const admitted = core.admitNew(type, defaulted);
  return type.strategy.prepareCreate?.(admitted, core) ?? admitted;
}

function freeName(core: Core, type: ResourceType, namespace: string, prefix: string): string {
  if (prefix === "") return "";
  const base = prefix.slice(0, GENERATED_NAME_LIMIT - SUFFIX_LENGTH);
  const table = core.store.table(type);
  let name = "";
  for (let attempt = 0; attempt < GENERATE_TRIES; attempt++) {
    name = base + core.random.nameSuffix();
    if (table.get(namespace, name) === undefined) break;
  }
  return name;
}

/** PUT, and the last step of every patch. `change` sees the stored object and gives the body to write. */
export function updateObject(
  core: Core,
  type: ResourceType,
  key: Key,
  change: (before: Stored) => unknown,
  options: WriteOptions = {},
): Stored {
  const before = core.store.table(type).get(namespaceOf(type, key.namespace), key.name);
  if (before === undefined) throw notFound(type, key.name);
  const draft = readBody(type, change(before), { ...options, stored: before });
  checkIdentity(type, key, draft, before, options.patched ?? false);
  const after = prepareChanged(type, before, draft, options.subresource);
  const validate = options.subresource === "status" ? type.strategy.validateStatus : type.strategy.validateUpdate;
  const errors = validate?.(before, after) ?? [];
  if (type.strategy.checksMetadata !== true) errors.unshift(...validateMetaUpdate(before, after));
  if (errors.length > 0) throw invalid(type, before.metadata.name, errors);
  if (jsonEqual(after, before)) return before;
  if (finished(before, after)) {
    // Watchers see the state before this write, the caller the one it wrote.
    if (options.dryRun !== true) core.store.remove(core.store.table(type), before);
    return frozenCopy(after as Stored);
  }
  return commit(core, type, after, options.dryRun ?? false);
}

function checkIdentity(type: ResourceType, key: Key, draft: Draft, before: Stored, patched: boolean): void {
  const { name, namespace, resourceVersion, uid } = draft.metadata;
  if (name === "" && type.schemaKind !== undefined)
    throw badRequest(`the name of the object (${key.name} based on URL) was undeterminable: name must be provided`);
  if (name !== "" && name !== key.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${key.name})`);
  if (namespace !== undefined && namespace !== "" && namespace !== namespaceOf(type, key.namespace))
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (!patched && uid !== undefined && uid !== "" && uid !== before.metadata.uid)
    throw conflict(
      type,
      key.name,
      `StorageError: invalid object, Code: 4, Key: ${storageKey(type, key)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${before.metadata.uid}`,
    );
  if (resourceVersion === undefined || resourceVersion === "") {
    if (type.strategy.needsResourceVersion !== true) return;
    throw invalid({ group: type.group, kind: type.plural }, key.name, [
      { field: "metadata.resourceVersion", kind: "Invalid", badValue: 0, detail: "must be specified for an update" },
    ]);
  }
  if (!/^\d+$/.test(resourceVersion))
    throw internalError(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  if (resourceVersion !== before.metadata.resourceVersion && resourceVersion !== "0") throw modified(type, key.name);
}

/** Where etcd would have the object; error messages show it. */
function storageKey(type: ResourceType, { namespace, name }: Key): string {
  const group = type.schemaKind === undefined ? `${type.group}/` : "";
  return `/registry/${group}${type.plural}/${type.namespaced ? `${namespace ?? ""}/` : ""}${name}`;
}

function prepareChanged(type: ResourceType, before: Stored, draft: Draft, subresource: "status" | undefined): Draft {
  const filled: Draft = { ...draft, metadata: keepServerFields(before.metadata, draft.metadata) };
  const needsDefaults = type.strategy.defaultsOnlySpec !== true || draft.spec !== before.spec;
  const defaulted = needsDefaults ? (type.strategy.applyDefaults?.(filled) ?? filled) : filled;
  const prepare = subresource === "status" ? type.strategy.prepareStatus : type.strategy.prepareUpdate;
  const prepared = prepare?.(before, defaulted) ?? defaulted;
  // Sharing unchanged parts keeps history small and lets validation skip them.
  const after: Draft = { ...prepared, metadata: { ...prepared.metadata } };
  for (const part of ["spec", "status", "data"])
    if (before[part] !== undefined && jsonEqual(after[part], before[part])) after[part] = before[part];
  shareMetadata(before.metadata, after.metadata);
  if (!type.countsGenerations || sameSpec(before, after)) return after;
  return { ...after, metadata: { ...after.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** What only the server sets: a client that leaves it out or sends an old value does not change it. */
function keepServerFields(before: Metadata, after: Metadata): Metadata {
  const { generation, deletionTimestamp, generateName, ...rest } = after;
  const deletionGracePeriodSeconds = rest.deletionGracePeriodSeconds ?? before.deletionGracePeriodSeconds;
  return {
    ...rest,
    name: before.name,
    ...(before.namespace === undefined ? {} : { namespace: before.namespace }),
    uid: rest.uid ?? before.uid,
    creationTimestamp: before.creationTimestamp ?? "",
    resourceVersion: before.resourceVersion,
    ...(before.generateName === undefined ? {} : { generateName: before.generateName }),
    ...(before.generation === undefined ? {} : { generation: before.generation }),
    ...(before.deletionTimestamp === undefined ? {} : { deletionTimestamp: before.deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
}

function shareMetadata(before: Metadata, after: { -readonly [Field in keyof Metadata]: Metadata[Field] }): void {
  if (jsonEqual(before.labels, after.labels)) copyField(before, after, "labels");
  if (jsonEqual(before.annotations, after.annotations)) copyField(before, after, "annotations");
  if (jsonEqual(before.ownerReferences, after.ownerReferences)) copyField(before, after, "ownerReferences");
  if (jsonEqual(before.finalizers, after.finalizers)) copyField(before, after, "finalizers");
}

function copyField<Field extends keyof Metadata>(
  from: Metadata,
  to: { -readonly [Name in keyof Metadata]: Metadata[Name] },
  field: Field,
): void {
  const value = from[field];
  if (value === undefined) delete to[field];
  else to[field] = value;
}

/** The last finalizer of an object whose deletion waited only for finalizers is gone. */
function finished(before: Stored, after: Draft): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = before.metadata;
  if (deletionTimestamp === undefined || (after.metadata.finalizers?.length ?? 0) > 0) return false;
  return deletionGracePeriodSeconds === undefined ? !hasSpecFinalizers(after) : deletionGracePeriodSeconds === 0;
}

/** Namespaces have a second list of finalizers, in their spec. */
export function hasSpecFinalizers(object: Readonly<Record<string, unknown>>): boolean {
  const spec = object.spec as { finalizers?: unknown } | undefined;
  return Array.isArray(spec?.finalizers) && spec.finalizers.length > 0;
}

export function commit(core: Core, type: ResourceType, draft: Draft, dryRun: boolean): Stored {
  const { resourceVersion: old, ...metadata } = draft.metadata;
  const resourceVersion = dryRun ? old : core.store.nextRevision();
  // A dry run of a create has no version at all.
  const versioned = {
    ...draft,
    metadata: { ...metadata, ...(resourceVersion === "" ? {} : { resourceVersion }) },
  } as Draft;
  const intern = <T>(value: T): T => (Object.isFrozen(value) ? value : core.interner.intern(value));
  const object: Stored = frozenCopy(type.strategy.share?.(versioned, intern) ?? versioned);
  if (!dryRun) core.store.put(core.store.table(type), object);
  return object;
}
