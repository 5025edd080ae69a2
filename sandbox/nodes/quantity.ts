/** Resource quantities such as `500m`, `1.5`, `64Mi` or `1e3`, as numbers in the base unit. */

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const GRAMMAR = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Undefined when it is no quantity. */
export function parseQuantity(quantity: string | number): number | undefined {
  const match = GRAMMAR.exec(String(quantity));
  if (match === null) return undefined;
  const [, digits = "", exponent, suffix = ""] = match;
  return Number(digits) * (exponent === undefined ? (FACTORS[suffix] ?? Number.NaN) : 10 ** Number(exponent));
}

/** The smallest unit that is still counted: a thousandth of a CPU, a whole byte, a whole pod. Rounded up, as requests are. */
export function resourceUnits(resource: string, quantity: string | number): number {
  const value = parseQuantity(quantity) ?? 0;
  // The subtraction keeps 0.1 * 1000 and the like from being rounded up by their floating-point dust.
  return Math.ceil((resource === "cpu" ? value * 1000 : value) - 1e-6);
}
