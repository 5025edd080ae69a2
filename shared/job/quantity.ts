/** Kubernetes resource quantities: `500m`, `1.5`, `2Gi`, `1e3`. Amounts are exact, in billionths. */

type Notation = "decimal" | "binary" | "exponent";

interface Quantity {
  readonly nanos: bigint;
  readonly notation: Notation;
}

const NANO = 1_000_000_000n;
const PATTERN = /^([+-]?)(\d+\.?\d*|\.\d+)((?:[KMGTPE]i)|[numkMGTPE]?|[eE][+-]?\d+)$/;
const BINARY_SUFFIXES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
/** Powers of ten in steps of three, from billionths. */
const DECIMAL_SUFFIXES = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const MAX_NANOS = (2n ** 63n - 1n) * NANO;
/** Longer numbers than any real amount: refused before they cost time. */
const MAX_LENGTH = 64;

/** Undefined when the text is not a quantity. Too precise amounts are rounded up, too large ones capped, as Kubernetes does. */
function parse(text: string): Quantity | undefined {
  const parts = text.length > MAX_LENGTH ? null : PATTERN.exec(text);
  if (parts === null) return undefined;
  const [, sign, digits = "", suffix = ""] = parts;
  const [whole = "", fraction = ""] = digits.split(".");
  const mantissa = BigInt(whole + fraction);
  const { multiplier, exponent, notation } = readSuffix(suffix);
  const magnitude = scale(mantissa * multiplier * NANO, exponent - fraction.length);
  const capped = minimum(magnitude, MAX_NANOS);
  return { nanos: sign === "-" ? -capped : capped, notation };
}

function readSuffix(suffix: string): { multiplier: bigint; exponent: number; notation: Notation } {
  if (suffix.endsWith("i")) {
    return { multiplier: 1024n ** BigInt(BINARY_SUFFIXES.indexOf(suffix)), exponent: 0, notation: "binary" };
  }
  if (/^[eE][+-]?\d/.test(suffix)) {
    const exponent = Math.max(-100, Math.min(100, Number(suffix.slice(1))));
    return { multiplier: 1n, exponent, notation: "exponent" };
  }
  return { multiplier: 1n, exponent: (DECIMAL_SUFFIXES.indexOf(suffix) - 3) * 3, notation: "decimal" };
}

/** value * 10^exponent, rounded up. */
function scale(value: bigint, exponent: number): bigint {
  return exponent >= 0 ? value * 10n ** BigInt(exponent) : divideRoundingUp(value, 10n ** BigInt(-exponent));
}

const minimum = (left: bigint, right: bigint): bigint => {
  if (left < right) return left;
  return right;
};

const divideRoundingUp = (value: bigint, divisor: bigint): bigint => (value + divisor - 1n) / divisor;

/** The spelling under which the API server stores this quantity; undefined when it is none. */
export function canonicalQuantity(text: string): string | undefined {
  const quantity = parse(text.trim());
  return quantity === undefined ? undefined : format(quantity);
}

/** The same rounded up to thousandths, to which the API server cuts container resources. */
export function roundUpToMilli(canonical: string): string {
  const quantity = parse(canonical);
  if (quantity === undefined || quantity.nanos % 1_000_000n === 0n) return canonical;
  const negative = quantity.nanos < 0n;
  const magnitude = divideRoundingUp(negative ? -quantity.nanos : quantity.nanos, 1_000_000n) * 1_000_000n;
  return format({ nanos: negative ? -magnitude : magnitude, notation: quantity.notation });
}

function format({ nanos, notation }: Quantity): string {
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const magnitude = nanos < 0n ? -nanos : nanos;
  // Below 1024 and for fractions the binary notation says nothing.
  if (notation === "binary" && magnitude >= 1024n * NANO && magnitude % NANO === 0n) {
    let [amount, power] = [magnitude / NANO, 0];
    while (power < BINARY_SUFFIXES.length - 1 && amount % 1024n === 0n) [amount, power] = [amount / 1024n, power + 1];
    return `${sign}${amount}${BINARY_SUFFIXES[power] ?? ""}`;
  }
  let [amount, power] = [magnitude, 0];
  while (power < DECIMAL_SUFFIXES.length - 1 && amount % 1000n === 0n) [amount, power] = [amount / 1000n, power + 1];
  if (notation === "exponent") return `${sign}${amount}${power === 3 ? "" : `e${(power - 3) * 3}`}`;
  return `${sign}${amount}${DECIMAL_SUFFIXES[power] ?? ""}`;
}

/** Amount in thousandths, rounded up: what schedulers add up. Undefined when the text is not a quantity. */
export function milliValue(text: string): bigint | undefined {
  const quantity = parse(text);
  if (quantity === undefined) return undefined;
  return quantity.nanos < 0n ? quantity.nanos / 1_000_000n : divideRoundingUp(quantity.nanos, 1_000_000n);
}

/** Negative, zero or positive. Both must be quantities. */
export function compareQuantities(left: string, right: string): number {
  const [a, b] = [parse(left)?.nanos ?? 0n, parse(right)?.nanos ?? 0n];
  return a < b ? -1 : a > b ? 1 : 0;
}
