const DECIMAL = /^[+-]?[0-9]+$/;
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Reads a decimal the way the API server does: optional sign, leading zeros allowed, no spaces, 64 bits.
 * Undefined when it is none. Beyond 2^53 the value is rounded, which only matters to callers that do not compare it.
 */
export function parseGoInt(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  if (text.length <= 15) return Number(text) || 0;
  const exact = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return exact > INT64_MAX || exact < INT64_MIN ? undefined : Number(exact);
}

export const INT32_MAX = 2_147_483_647;
