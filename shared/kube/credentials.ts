import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Clock } from "../runtime/clock.ts";
import { ApiError } from "./errors.ts";
import { type Login, newKubeConfig } from "./kubeconfig.ts";

/** What proves to the server who we are, at this moment. */
export interface Credentials {
  headers: Record<string, string | string[]>;
  cert?: string;
  key?: string;
}

export interface CredentialSource {
  /** Cheap: called for every request. */
  current(): Credentials | Promise<Credentials>;
  /** The server refused what `current` gave: forget everything cached. */
  refresh(): void;
}

/** The credentials for a request; an `ApiError` when a file cannot be read or a plugin fails. */
export async function currentCredentials(source: CredentialSource): Promise<Credentials> {
  try {
    return await source.current();
  } catch (cause) {
    const why = (cause instanceof Error ? cause.message : String(cause)).trim().replaceAll(/\s+/g, " ");
    throw new ApiError(0, "NotSent", `no credentials: ${why.slice(0, 500)}`, { cause });
  }
}

/**
 * The library reads certificates each time, the file of a token once a minute, and runs a plugin again when its answer has
 * expired; to ask it for every request would still cost.
 */
const RECHECK_MS = 5_000;

/** A login as @kubernetes/client-node performs it, whatever its kind. */
export class LoginCredentials implements CredentialSource {
  readonly #login: Login;
  readonly #clock: Clock;
  #config: KubeConfig | undefined;
  #answer: Promise<Credentials> | undefined;
  #asked = 0;

  constructor(login: Login, clock: Clock) {
    this.#login = login;
    this.#clock = clock;
  }

  current(): Promise<Credentials> {
    const now = this.#clock.monotonic();
    const before = this.#answer;
    if (before !== undefined && now - this.#asked < RECHECK_MS) return before;
    this.#asked = now;
    const answer = this.#ask().catch((error: unknown) => {
      // While a file is being replaced, what we have is better than nothing.
      if (before !== undefined) return before;
      this.refresh();
      throw error;
    });
    this.#answer = answer;
    return answer;
  }

  refresh(): void {
    this.#config = undefined;
    this.#answer = undefined;
  }

  async #ask(): Promise<Credentials> {
    this.#config ??= await this.#load();
    const options: RequestOptions = {};
    await this.#config.applyToHTTPSOptions(options);
    const { auth, cert, key } = options;
    const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
    return {
      headers: { ...basic, ...headersOf(options), ...this.#login.headers },
      ...(cert ? { cert: String(cert) } : {}),
      ...(key ? { key: String(key) } : {}),
    };
  }

  async #load(): Promise<KubeConfig> {
    const config = await newKubeConfig();
    const { cluster, user } = this.#login;
    // The library refuses http:// unless certificates are not to be checked, of which there are none then.
    const skipTLSVerify = cluster.skipTLSVerify || cluster.server.startsWith("http:");
    // A copy: some kinds of login write what they were given into the user.
    config.loadFromClusterAndUser({ ...cluster, skipTLSVerify }, structuredClone(user));
    return config;
  }
}

/** A token's file usually ends with a line break. */
const headersOf = ({ headers = {} }: RequestOptions): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name.toLowerCase(), String(value).trim()]],
    ),
  );
