import type { KubeApi, ObjectKey } from "./api.ts";
import { isAlreadyExists, isNotFound } from "./errors.ts";
import { type Secret, secrets } from "./resources.ts";

/** What the Secret holds, as text. One that is not there is made, and stays for good. */
export async function keptSecret(
  api: KubeApi,
  key: Required<ObjectKey>,
  make: () => Record<string, string>,
): Promise<Record<string, string>> {
  const { data = {} } = (await find(api, key)) ?? (await create(api, key, make()));
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
  );
}

async function create(api: KubeApi, key: Required<ObjectKey>, texts: Record<string, string>): Promise<Secret> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]),
  );
  try {
    return await api.create(secrets, key.namespace, { metadata: { name: key.name }, data });
  } catch (error) {
    // Somebody was faster: theirs is the one.
    if (!isAlreadyExists(error)) throw error;
    return await api.get(secrets, key);
  }
}

async function find(api: KubeApi, key: ObjectKey): Promise<Secret | undefined> {
  try {
    return await api.get(secrets, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
