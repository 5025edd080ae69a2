/** Where a path of the API points to. */
export interface Route {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

/** undefined for paths that are not about resources. */
export function readRoute(path: string): Route | undefined {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  if (parts.at(-1) === "") parts.pop();
  const [root, ...rest] = parts;
  if (root === "api" && rest.length >= 2) return inGroup("", rest[0] ?? "", rest.slice(1));
  if (root === "apis" && rest.length >= 3) return inGroup(rest[0] ?? "", rest[1] ?? "", rest.slice(2));
  return undefined;
}

function inGroup(group: string, version: string, parts: string[]): Route | undefined {
  // "namespaces/X" is the namespace itself, "namespaces/X/status" a subresource of it, anything longer lies inside it.
  const inside = parts[0] === "namespaces" && parts.length > 2 && !["status", "finalize"].includes(parts[2] ?? "");
  const namespace = inside ? parts[1] : undefined;
  const [plural = "", name, subresource, ...tooMuch] = inside ? parts.slice(2) : parts;
  if (plural === "" || tooMuch.length > 0) return undefined;
  return { group, version, plural, namespace, name, subresource };
}
