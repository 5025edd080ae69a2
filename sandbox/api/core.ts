import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Random } from "../random.ts";
import type { Stored } from "../store/frozen.ts";
import type { Interner } from "../store/intern.ts";
import type { Store } from "../store/store.ts";
import { notFound } from "./errors.ts";
import type { Registry } from "./registry.ts";
import type { Draft, ResourceType } from "./types.ts";

/** What the verbs work on. */
export interface Core {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly interner: Interner;
  /** What admission makes of a new object, between its defaults and its validation. */
  admitNew(type: ResourceType, draft: Draft): Draft;
}

export interface Key {
  /** Ignored for cluster-scoped types. */
  readonly namespace?: string | undefined;
  readonly name: string;
}

export const namespaceOf = (type: ResourceType, namespace: string | undefined): string =>
  type.namespaced ? (namespace ?? "") : "";

export function getOrFail(core: Core, type: ResourceType, key: Key): Stored {
  const object = core.store.table(type).get(namespaceOf(type, key.namespace), key.name);
  if (object === undefined) throw notFound(type, key.name);
  return object;
}
