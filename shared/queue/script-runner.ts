import type { Cluster, Redis } from "ioredis";
import { TransportError } from "./errors.ts";
import { PREVIOUS_SCRIPTS } from "./previous-scripts.ts";
import { SCRIPTS, type ScriptName } from "./scripts.ts";

export type Client = Redis | Cluster;

type Argument = string | number | Buffer;

export interface ScriptsOptions {
  readonly client: Client;
  /** Whether we may load them: the manager may, agents may not. */
  readonly loads: boolean;
  /** Redis does not have them, and we may not load them. */
  readonly onMissing?: () => void;
}

/** Runs our scripts by their hashes. A server forgets them when it restarts or another one takes over: who may, loads them again. */
export class Scripts {
  readonly client: Client;
  readonly #options: ScriptsOptions;
  #loading: Promise<void> | undefined;

  constructor(options: ScriptsOptions) {
    this.client = options.client;
    this.#options = options;
  }

  async run(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    try {
      return await this.#call(name, keys, args);
    } catch (error) {
      if (!isMissing(error)) throw error;
      if (!this.#options.loads) {
        this.#options.onMissing?.();
        throw new TransportError("transport/no-scripts", undefined, error);
      }
      await this.load();
      return await this.#call(name, keys, args);
    }
  }

  /**
   * This release's and the one's before, on every master that answers. One that is away has forgotten them when it is back, and
   * gets them with the first script that it misses.
   */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { client } = this;
    const masters = "nodes" in client ? client.nodes("master") : [client];
    const texts = [...PREVIOUS_SCRIPTS, ...Object.values(SCRIPTS).map(({ lua }) => lua)];
    const loaded = await Promise.allSettled(
      masters.map(async (master) => {
        for (const text of texts) await master.script("LOAD", text);
      }),
    );
    const [first] = loaded;
    if (first?.status === "rejected" && loaded.every(({ status }) => status === "rejected")) throw first.reason;
  }

  #call(name: ScriptName, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    return this.client.evalsha(SCRIPTS[name].sha, keys.length, ...keys, ...args);
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && error.message.startsWith("NOSCRIPT");
