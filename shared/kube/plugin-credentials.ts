import type { RequestOptions } from "node:https";
import type { Clock } from "../runtime/clock.ts";
import type { CredentialSource, Credentials } from "./credentials.ts";

/** The library runs the plugin again only when its token has expired; asking it for every request would still cost. */
const RECHECK_MS = 5_000;

/**
 * Exec plugins and the old auth providers, as @kubernetes/client-node implements them. The library takes about a second
 * to load, so only those who need it load it.
 */
export class PluginCredentialSource implements CredentialSource {
  readonly #kubeconfig: string;
  readonly #clock: Clock;
  readonly #headers: Record<string, string | string[]>;
  #ask: (() => Promise<Credentials>) | undefined;
  #answer: Promise<Credentials> | undefined;
  #asked = 0;

  /** `kubeconfig` is JSON with one context, whose user is the one to authenticate; `headers` are sent as well. */
  constructor(kubeconfig: string, clock: Clock, headers: Record<string, string | string[]>) {
    this.#kubeconfig = kubeconfig;
    this.#clock = clock;
    this.#headers = headers;
  }

  current(): Promise<Credentials> {
    const now = this.#clock.monotonic();
    if (this.#answer !== undefined && now - this.#asked < RECHECK_MS) return this.#answer;
    this.#asked = now;
    const answer = this.#load();
    this.#answer = answer;
    answer.catch(() => {
      if (this.#answer === answer) this.#answer = undefined;
    });
    return answer;
  }

  refresh(): void {
    this.#ask = undefined;
    this.#answer = undefined;
  }

  async #load(): Promise<Credentials> {
    this.#ask ??= await this.#loadLibrary();
    return this.#ask();
  }

  async #loadLibrary(): Promise<() => Promise<Credentials>> {
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    config.loadFromString(this.#kubeconfig);
    return async () => {
      const options: RequestOptions = {};
      await config.applyToHTTPSOptions(options);
      const { Authorization: authorization } = (options.headers ?? {}) as Record<string, unknown>;
      return {
        headers: { ...this.#headers, ...(typeof authorization === "string" ? { authorization } : {}) },
        ...(options.cert ? { cert: String(options.cert) } : {}),
        ...(options.key ? { key: String(options.key) } : {}),
      };
    };
  }
}
