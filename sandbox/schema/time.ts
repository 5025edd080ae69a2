const RFC3339 = /^(\d{4}-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/;

/** Pods that come and go together carry the same few times again and again: each is kept once. */
const recent = new Map<string, string>();
const RECENT_LIMIT = 1024;
/** With nanoseconds and an offset; longer fractions are legal, but not worth keeping. */
const USUAL_LENGTH = 35;

/**
 * The same instant in UTC, with its fraction of a second only if there is one; undefined when the text is not RFC 3339
 * time. The fraction is kept because the API server compares times before it cuts them to whole seconds (SW-9).
 */
export function canonicalTime(text: string): string | undefined {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const fresh = parse(text);
  if (fresh === undefined || text.length > USUAL_LENGTH) return fresh;
  if (recent.size >= RECENT_LIMIT) recent.clear();
  const kept = fresh === text ? text : fresh;
  recent.set(text, kept);
  return kept;
}

function parse(text: string): string | undefined {
  const parts = RFC3339.exec(text);
  if (parts === null) return undefined;
  const [, local = "", , day = "", , fraction = "", zone = "Z"] = parts;
  // Date.parse rolls 30 February over into March; Kubernetes refuses it.
  const wallClock = Date.parse(`${local}Z`);
  if (Number.isNaN(wallClock) || new Date(wallClock).getUTCDate() !== Number(day)) return undefined;
  const utc = Date.parse(local + zone);
  if (Number.isNaN(utc)) return undefined;
  const digits = fraction.slice(0, 9).replace(/0+$/, "");
  return `${new Date(utc).toISOString().slice(0, -5)}${digits === "" ? "" : `.${digits}`}Z`;
}

/** As stored: whole seconds. */
export const wholeSeconds = (canonical: string): string => canonical.replace(/\.\d+Z$/, "Z");
