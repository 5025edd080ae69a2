import type { ResourceType } from "./types.ts";

/** The resource types that are served now; custom resources come and go. */
export class Registry {
  readonly #types = new Map<string, ResourceType>();
  #version = 0;

  constructor(types: readonly ResourceType[]) {
    for (const type of types) this.add(type);
  }

  /** Grows with every change, so that discovery documents can be kept. */
  get version(): number {
    return this.#version;
  }

  add(type: ResourceType): void {
    this.#types.set(`${type.group}/${type.version}/${type.plural}`, type);
    this.#version++;
  }

  remove(type: { group: string; version: string; plural: string }): void {
    this.#types.delete(`${type.group}/${type.version}/${type.plural}`);
    this.#version++;
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#types.get(`${group}/${version}/${plural}`);
  }

  findKind(apiVersion: string, kind: string): ResourceType | undefined {
    for (const type of this.#types.values()) if (type.apiVersion === apiVersion && type.kind === kind) return type;
    return undefined;
  }

  all(): ResourceType[] {
    return [...this.#types.values()];
  }

  namespaced(): ResourceType[] {
    return this.all().filter((type) => type.namespaced);
  }
}
