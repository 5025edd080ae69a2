import type {
  CallOptions,
  DeleteOptions,
  KubeApi,
  KubeList,
  KubeObject,
  ListOptions,
  ObjectKey,
  Patch,
  Resource,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from "../api.ts";

type AnyObject = KubeObject & Record<string, unknown>;

/** What a test lets the server do; calls that are not scripted reject. */
export interface Script {
  get?(key: ObjectKey, options?: CallOptions): Promise<KubeObject>;
  list?(options: ListOptions): Promise<KubeList<KubeObject>>;
  watch?(options: WatchOptions): AsyncIterable<WatchEvent<KubeObject>[]>;
  create?(object: AnyObject, options?: WriteOptions): Promise<KubeObject>;
  replace?(object: AnyObject, options?: WriteOptions): Promise<KubeObject>;
  patch?(key: ObjectKey, patch: Patch): Promise<KubeObject>;
  delete?(key: ObjectKey): Promise<KubeObject | undefined>;
}

const unscripted = (): Promise<never> => Promise.reject(new Error("this call is not in the script"));

/** An API server that does what a test says, where a real one cannot be made to. */
export class ScriptedApi implements KubeApi {
  readonly #script: Script;

  constructor(script: Script) {
    this.#script = script;
  }

  get<T extends KubeObject>(_: Resource<T>, key: ObjectKey, options?: CallOptions): Promise<T> {
    return (this.#script.get?.(key, options) ?? unscripted()) as Promise<T>;
  }

  list<T extends KubeObject>(_: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    return (this.#script.list?.(options) ?? unscripted()) as Promise<KubeList<T>>;
  }

  watch<T extends KubeObject>(_: Resource<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>[]> {
    if (this.#script.watch === undefined) throw new Error("watch is not in the script");
    return this.#script.watch(options) as AsyncIterable<WatchEvent<T>[]>;
  }

  create<T extends KubeObject>(
    _: Resource<T>,
    _namespace: string | undefined,
    object: T,
    options?: WriteOptions,
  ): Promise<T> {
    return (this.#script.create?.(object as unknown as AnyObject, options) ?? unscripted()) as Promise<T>;
  }

  replace<T extends KubeObject>(_: Resource<T>, _key: ObjectKey, object: T, options?: WriteOptions): Promise<T> {
    return (this.#script.replace?.(object as unknown as AnyObject, options) ?? unscripted()) as Promise<T>;
  }

  patch<T extends KubeObject>(_: Resource<T>, key: ObjectKey, patch: Patch): Promise<T> {
    return (this.#script.patch?.(key, patch) ?? unscripted()) as Promise<T>;
  }

  delete<T extends KubeObject>(_: Resource<T>, key: ObjectKey, _options?: DeleteOptions): Promise<T | undefined> {
    return (this.#script.delete?.(key) ?? unscripted()) as Promise<T | undefined>;
  }
}

/** A watch that a test feeds by hand. */
export class ScriptedWatch implements AsyncIterable<WatchEvent<KubeObject>[]> {
  readonly options: WatchOptions;
  readonly #steps: (() => IteratorResult<WatchEvent<KubeObject>[]>)[] = [];
  #wake = (): void => {};

  constructor(options: WatchOptions) {
    this.options = options;
    options.signal?.addEventListener("abort", () => this.fail(options.signal?.reason), { once: true });
  }

  push(...events: WatchEvent<KubeObject>[]): void {
    this.#step(() => ({ value: events, done: false }));
  }

  end(): void {
    this.#step(() => ({ value: undefined, done: true }));
  }

  fail(error: unknown): void {
    this.#step(() => {
      throw error;
    });
  }

  #step(step: () => IteratorResult<WatchEvent<KubeObject>[]>): void {
    this.#steps.push(step);
    this.#wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<KubeObject>[]> {
    return {
      next: async () => {
        while (this.#steps.length === 0)
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        const step = this.#steps.shift();
        return step === undefined ? { value: undefined, done: true } : step();
      },
    };
  }
}
