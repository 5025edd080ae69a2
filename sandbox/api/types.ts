import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { Stored } from "../store/frozen.ts";
import type { Column } from "./columns.ts";
import type { FieldFault } from "./errors.ts";

/** An object on its way into the store: JSON of any shape whose metadata is known to be an object. */
export interface Draft {
  apiVersion: string;
  kind: string;
  metadata: Stored["metadata"];
  [field: string]: unknown;
}

/** What admission and strategies may know of the world. */
interface Surroundings {
  readonly clock: Clock;
}

/** How one resource type fills in, checks and deletes its objects; what is left out is what most types do. */
export interface Strategy {
  /** Custom resources: drops fields that the definition does not know, noting their paths. */
  prune?(body: Record<string, unknown>, unknown: string[]): Record<string, unknown>;
  /** Defaults of decoding: applied to every object that is written. */
  applyDefaults?(draft: Draft): Draft;
  /** The defaults touch nothing but the spec, so that a stored spec needs none. */
  readonly defaultsOnlySpec?: boolean;
  prepareCreate?(draft: Draft, around: Surroundings): Draft;
  validateCreate?(draft: Draft): FieldFault[];
  prepareUpdate?(before: Stored, after: Draft): Draft;
  validateUpdate?(before: Stored, after: Draft): FieldFault[];
  prepareStatus?(before: Stored, after: Draft): Draft;
  validateStatus?(before: Stored, after: Draft): FieldFault[];
  /** The validators above cover metadata, too. */
  readonly checksMetadata?: boolean;
  createWarnings?(draft: Draft): string[];
  validateName?(name: string): string[];
  /** Replaces parts that many objects of the type have in common by one shared copy. */
  share?(draft: Draft, intern: <T>(value: T) => T): Draft;
  /** Seconds between the request and the removal; undefined for types that are removed at once. */
  gracePeriod?(object: Stored, requested: number | undefined): number;
  /** What happens to dependents when the request does not say. */
  readonly defaultPropagation?: "Orphan" | "Background";
  readonly defaultPropagationWarning?: string;
  /** Answers a completed DELETE with the object instead of a Status. */
  readonly answersWithDeleted?: boolean;
  /** PUT must say which version it replaces. */
  readonly needsResourceVersion?: boolean;
  /** Lets PUT create an object that is not there. */
  readonly createOnUpdate?: boolean;
}

export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly hasStatus: boolean;
  /** Keeps metadata.generation, which counts changes of everything but metadata and status. */
  readonly countsGenerations: boolean;
  /** Subresources besides status, with the kind of object they take. */
  readonly connects: readonly Subresource[];
  readonly strategy: Strategy;
  /** Fields usable in a field selector beyond metadata.name and metadata.namespace. */
  readonly selectableFields: Readonly<Record<string, (object: Stored) => string>>;
  readonly unsupportedField: (field: string) => string;
  readonly columns: readonly Column[];
  /** Key into schema/kinds.ts; undefined for custom resources, whose objects follow the schema of their definition. */
  readonly schemaKind: string | undefined;
  /** The schema of a custom resource, for OpenAPI. */
  readonly openApiSchema?: Readonly<Record<string, unknown>>;
}

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}
