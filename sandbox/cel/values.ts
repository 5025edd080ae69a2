/** The values of the expression language and what can be done with them. */

/** An expression that cannot be read, or not be worked out on these values. */
export class CelError extends Error {}

export const CONSTANTS: Record<string, unknown> = { true: true, false: false, null: null };

export const FUNCTIONS: Record<string, (...values: unknown[]) => unknown> = {
  size: (value) => {
    if (typeof value === "string") return [...value].length;
    if (Array.isArray(value)) return value.length;
    if (typeof value === "object" && value !== null) return Object.keys(value).length;
    throw new CelError("size() of a value that has none");
  },
  matches: (text, pattern) => new RegExp(stringOf(pattern), "u").test(stringOf(text)),
  startsWith: (text, prefix) => stringOf(text).startsWith(stringOf(prefix)),
  endsWith: (text, suffix) => stringOf(text).endsWith(stringOf(suffix)),
  contains: (text, part) => stringOf(text).includes(stringOf(part)),
  duration: (text) => seconds(stringOf(text)),
};

const UNITS: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** A Go duration like `1h30m`, in seconds. */
function seconds(text: string): number {
  if (text === "0") return 0;
  const sign = text.startsWith("-") ? -1 : 1;
  const body = text.replace(/^[-+]/, "");
  if (!/^(\d+(\.\d*)?(h|ms|us|µs|ns|m|s))+$/.test(body)) throw new CelError(`${text} is not a duration`);
  let total = 0;
  for (const [, number = "", , unit = ""] of body.matchAll(/(\d+(\.\d*)?)(h|ms|us|µs|ns|m|s)/g))
    total += Number(number) * (UNITS[unit] ?? 0);
  return sign * total;
}

export function isTrue(value: unknown): boolean {
  if (typeof value !== "boolean") throw new CelError("no such overload: expected a boolean");
  return value;
}

export function numberOf(value: unknown): number {
  if (typeof value !== "number") throw new CelError("no such overload: expected a number");
  return value;
}

function stringOf(value: unknown): string {
  if (typeof value !== "string") throw new CelError("no such overload: expected a string");
  return value;
}

export function compare(left: unknown, right: unknown): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  throw new CelError("no such overload: values that cannot be ordered");
}

export function plus(left: unknown, right: unknown): unknown {
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  return numberOf(left) + numberOf(right);
}

export function contains(container: unknown, value: unknown): boolean {
  if (Array.isArray(container)) return container.some((item) => JSON.stringify(item) === JSON.stringify(value));
  return typeof container === "object" && container !== null && Object.hasOwn(container, String(value));
}

export function fieldOf(value: unknown, key: unknown): unknown {
  if (Array.isArray(value) && typeof key === "number" && key >= 0 && key < value.length) return value[key];
  if (typeof value === "object" && value !== null && typeof key === "string" && Object.hasOwn(value, key))
    return (value as Record<string, unknown>)[key];
  throw new CelError(`no such key: ${String(key)}`);
}
