import { readFileSync, statSync } from "node:fs";
import type { Clock } from "../runtime/clock.ts";
import { ApiError } from "./errors.ts";

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
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ApiError(0, "NotSent", `no credentials: ${why.slice(0, 500)}`, { cause });
  }
}

/** In-cluster tokens are renewed long before they expire; client-go looks once a minute. */
const RECHECK_MS = 10_000;

/** A file's text, read again when the file changes. */
export class WatchedFile {
  readonly #path: string;
  readonly #clock: Clock;
  #text: string | undefined;
  #version = "";
  #checked = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  read(): string {
    const now = this.#clock.monotonic();
    if (this.#text !== undefined && now - this.#checked < RECHECK_MS) return this.#text;
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const version = `${mtimeMs} ${size} ${ino}`;
      if (version !== this.#version) this.#text = readFileSync(this.#path, "utf8");
      this.#version = version;
    } catch (error) {
      // While the file is being replaced, what we have is better than nothing.
      if (this.#text === undefined) throw error;
    }
    this.#checked = now;
    return this.#text ?? "";
  }

  forget(): void {
    this.#checked = Number.NEGATIVE_INFINITY;
    this.#version = "";
  }
}

type Field = string | WatchedFile | undefined;
const textOf = (field: Field): string | undefined => (field instanceof WatchedFile ? field.read() : field);

export interface PlainCredentials {
  token?: string | WatchedFile;
  cert?: string | WatchedFile;
  key?: string | WatchedFile;
  basic?: { username: string; password: string };
  headers?: Record<string, string | string[]>;
}

/** Token, client certificate or password, given in place or in files. */
export class PlainCredentialSource implements CredentialSource {
  readonly #fields: PlainCredentials;

  constructor(fields: PlainCredentials) {
    this.#fields = fields;
  }

  current(): Credentials {
    const { basic, headers } = this.#fields;
    const token = textOf(this.#fields.token)?.trim();
    const cert = textOf(this.#fields.cert);
    const key = textOf(this.#fields.key);
    const authorization =
      token !== undefined
        ? { authorization: `Bearer ${token}` }
        : basic !== undefined
          ? { authorization: `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}` }
          : {};
    return {
      headers: { ...headers, ...authorization },
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
  }

  refresh(): void {
    for (const field of [this.#fields.token, this.#fields.cert, this.#fields.key])
      if (field instanceof WatchedFile) field.forget();
  }
}
