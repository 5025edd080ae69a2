import { FOREGROUND_DELETION_FINALIZER, ORPHAN_FINALIZER } from "@jobferry/shared/job/keys.ts";
import type { DeleteOptions } from "@jobferry/shared/kube/api.ts";
import { timestamp } from "@jobferry/shared/runtime/clock.ts";
import type { Stored } from "../store/frozen.ts";
import { type Core, getOrFail, type Key } from "./core.ts";
import { failure } from "./errors.ts";
import type { ResourceType } from "./types.ts";
import { commit, hasSpecFinalizers } from "./write.ts";

export interface RemoveOptions
  extends Pick<DeleteOptions, "propagationPolicy" | "gracePeriodSeconds" | "preconditions"> {
  readonly dryRun?: boolean | undefined;
  readonly warn?: ((text: string) => void) | undefined;
}

/** `gone`: nothing is left; otherwise `object` waits for its grace period or its finalizers. */
export interface Removal {
  readonly gone: boolean;
  readonly object: Stored;
}

export function removeObject(core: Core, type: ResourceType, key: Key, options: RemoveOptions = {}): Removal {
  const object = getOrFail(core, type, key);
  checkPreconditions(type, object, options);
  if (options.propagationPolicy === undefined && type.strategy.defaultPropagationWarning !== undefined)
    options.warn?.(type.strategy.defaultPropagationWarning);
  const finalizers = finalizersFor(type, object, options);
  const seconds = graceSeconds(type, object, options.gracePeriodSeconds);
  const waits = seconds > 0 || finalizers.length > 0 || hasSpecFinalizers(object);
  const dryRun = options.dryRun ?? false;
  if (waits) return { gone: false, object: mark(core, type, object, finalizers, seconds, dryRun) };
  // Types with a grace period are marked even when it is over at once.
  const last = type.strategy.gracePeriod === undefined ? object : mark(core, type, object, finalizers, seconds, dryRun);
  return { gone: true, object: dryRun ? last : core.store.remove(core.store.table(type), last) };
}

function checkPreconditions(type: ResourceType, object: Stored, { preconditions }: RemoveOptions): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const refuse = (detail: string): Error =>
    failure(409, "Conflict", `Operation cannot be fulfilled on ${type.kind} "${object.metadata.name}": ${detail}`, {
      name: object.metadata.name,
      kind: type.kind,
      ...(type.group === "" ? {} : { group: type.group }),
    });
  if (uid !== undefined && uid !== object.metadata.uid)
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${object.metadata.uid}). The object might have been deleted and then recreated`,
    );
  if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${object.metadata.resourceVersion}). The object might have been modified`,
    );
}

/** The propagation policy is written down as a finalizer, which the garbage collector takes off when it is done. */
function finalizersFor(type: ResourceType, object: Stored, options: RemoveOptions): string[] {
  const current = object.metadata.finalizers ?? [];
  const policy = options.propagationPolicy ?? impliedPolicy(type, current);
  const others = current.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_DELETION_FINALIZER);
  if (policy === "Orphan") return [...others, ORPHAN_FINALIZER];
  if (policy === "Foreground") return [...others, FOREGROUND_DELETION_FINALIZER];
  return others;
}

function impliedPolicy(type: ResourceType, finalizers: readonly string[]): RemoveOptions["propagationPolicy"] {
  if (finalizers.includes(ORPHAN_FINALIZER)) return "Orphan";
  if (finalizers.includes(FOREGROUND_DELETION_FINALIZER)) return "Foreground";
  return type.strategy.defaultPropagation;
}

/** A deletion under way can be shortened, never prolonged. */
function graceSeconds(type: ResourceType, object: Stored, requested: number | undefined): number {
  if (type.strategy.gracePeriod === undefined) return 0;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata;
  if (deletionTimestamp === undefined) return type.strategy.gracePeriod(object, requested);
  if (requested === undefined) return deletionGracePeriodSeconds;
  return Math.min(deletionGracePeriodSeconds, type.strategy.gracePeriod(object, requested));
}

function mark(
  core: Core,
  type: ResourceType,
  object: Stored,
  finalizers: string[],
  seconds: number,
  dryRun: boolean,
): Stored {
  const { deletionTimestamp, deletionGracePeriodSeconds, generation } = object.metadata;
  const sameFinalizers = finalizers.join() === (object.metadata.finalizers ?? []).join();
  // Namespaces wait for their content, not for a time, and show no grace period.
  const grace = hasSpecFinalizers(object) ? undefined : seconds;
  if (deletionTimestamp !== undefined && sameFinalizers && deletionGracePeriodSeconds === grace) return object;
  const { finalizers: _, ...rest } = object.metadata;
  const draft = {
    ...object,
    metadata: {
      ...rest,
      ...(finalizers.length === 0 ? {} : { finalizers }),
      deletionTimestamp:
        deletionTimestamp !== undefined && deletionGracePeriodSeconds === grace
          ? deletionTimestamp
          : timestamp(core.clock.now() + seconds * 1000),
      ...(grace === undefined ? {} : { deletionGracePeriodSeconds: grace }),
      ...(generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }),
    },
    ...(hasSpecFinalizers(object) ? { status: { ...(object.status as object), phase: "Terminating" } } : {}),
  };
  return commit(core, type, draft, dryRun);
}
