import type { Stored, Verdict } from "./verdict.ts";

/** How two verdicts differ: one line per difference, none when they agree. Order and number of causes count, too. */
export function differences(theirs: Verdict, ours: Verdict): string[] {
  if (theirs.outcome === "accepted" && ours.outcome === "accepted") {
    return objectDifferences(comparable(theirs.object), comparable(ours.object), "");
  }
  if (theirs.outcome === "invalid" && ours.outcome === "invalid") return causeDifferences(theirs.causes, ours.causes);
  return theirs.outcome === ours.outcome ? [] : [`server: ${describe(theirs)}; ours: ${describe(ours)}`];
}

function describe(verdict: Verdict): string {
  if (verdict.outcome === "invalid") return `invalid (${verdict.causes.join(", ")})`;
  return verdict.outcome === "other" ? verdict.detail : verdict.outcome;
}

function causeDifferences(theirs: readonly string[], ours: readonly string[]): string[] {
  const missing = [...theirs];
  const surplus = ours.filter((cause) => {
    const position = missing.indexOf(cause);
    if (position >= 0) missing.splice(position, 1);
    return position < 0;
  });
  return [...missing.map((cause) => `only the server: ${cause}`), ...surplus.map((cause) => `only ours: ${cause}`)];
}

/** Without what the server alone decides. */
function comparable(object: Stored): unknown {
  const { uid = "<none>", generateName } = object.metadata;
  const copy = JSON.parse(JSON.stringify(object, withoutNull).replaceAll(uid, "<uid>")) as Stored;
  const { creationTimestamp: _time, managedFields: _fields, resourceVersion: _version, ...metadata } = copy.metadata;
  const { name = "" } = metadata;
  const text = JSON.stringify({ ...copy, metadata });
  return JSON.parse(generateName === undefined ? text : text.replaceAll(name, "<generated>")) as unknown;
}

/** Absent and null are one to every reader. */
const withoutNull = (_key: string, value: unknown): unknown => value ?? undefined;

function objectDifferences(theirs: unknown, ours: unknown, path: string): string[] {
  if (isNode(theirs) && isNode(ours)) {
    const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
    return [...keys].flatMap((key) => objectDifferences(theirs[key], ours[key], `${path}.${key}`));
  }
  return theirs === ours ? [] : [`${path}: server ${JSON.stringify(theirs)}, ours ${JSON.stringify(ours)}`];
}

const isNode = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
