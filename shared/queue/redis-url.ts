/** What a URL says of Redis. Unlike a URL of the web it may name several hosts: the Sentinels, or nodes of a Redis Cluster. */
export interface RedisUrl {
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly hosts: readonly { readonly host: string; readonly port: number | undefined }[];
  readonly database: number | undefined;
}

const URL_OF_REDIS = /^(rediss?):\/\/(?:([^:@/\s]*)(?::([^@/\s]*))?@)?([^@/\s]+)(?:\/(\d{0,4}))?$/;
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9]([-A-Za-z0-9._]*[A-Za-z0-9])?)(?::(\d{1,5}))?$/;

/** Undefined: it is none. */
export function parseRedisUrl(text: string): RedisUrl | undefined {
  const [, scheme, username = "", password = "", list = "", database = ""] = URL_OF_REDIS.exec(text) ?? [];
  if (scheme === undefined) return undefined;
  const hosts = [];
  for (const part of list.split(",")) {
    const [, host, , port] = HOST.exec(part) ?? [];
    if (host === undefined || (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))) return undefined;
    hosts.push({ host: host.replace(/^\[|\]$/g, ""), port: port === undefined ? undefined : Number(port) });
  }
  return {
    isTls: scheme === "rediss",
    username: username === "" ? undefined : decodeURIComponent(username),
    password: password === "" ? undefined : decodeURIComponent(password),
    hosts,
    database: database === "" ? undefined : Number(database),
  };
}

/** The same places for this user, without a password. */
export const redisUrlFor = (url: string, username: string): string =>
  url.replace(/^(rediss?:\/\/)(?:[^@/]*@)?/, `$1${encodeURIComponent(username)}@`);

/** For messages: never the credentials. */
export const placesOf = (url: string): string => url.replace(/^rediss?:\/\//, "").replace(/^[^@]*@/, "");

/** To another machine, without TLS: whoever is in between reads the password. */
export function isInTheClear(url: string): boolean {
  const parsed = parseRedisUrl(url);
  if (parsed === undefined || parsed.isTls) return false;
  return parsed.hosts.some(({ host }) => !/^(localhost|127(\.\d+){3}|::1)$/.test(host));
}
