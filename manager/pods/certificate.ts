import { readFile } from "node:fs/promises";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";

/** What `--NAME-cert-file` and `--NAME-key-file` name; undefined where neither is given. */
export async function readCertificate(
  name: string,
  certFile: string | undefined,
  keyFile: string | undefined,
): Promise<{ cert: string; key: string } | undefined> {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new ConfigError(`--${name}-cert-file and --${name}-key-file go together: give both, or none`);
  try {
    return { cert: await readFile(certFile, "utf8"), key: await readFile(keyFile, "utf8") };
  } catch (cause) {
    throw new ConfigError(`--${name}-cert-file: ${(cause as Error).message}`, { cause });
  }
}
