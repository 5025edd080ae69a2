/** Which nodes a pod may go to, by the rules of the scheduler. Every rule looks at one taint or one label. */

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}

export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[] | undefined;
  readonly matchFields?: readonly NodeRequirement[] | undefined;
}

/** What a cordoned node has, whether or not somebody has written it down there. */
export const CORDONED: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Without a key a toleration stands for all keys, without an effect for all effects. */
export function tolerates(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some(({ key = "", operator, value = "", effect = "" }) => {
    if (effect !== "" && effect !== taint.effect) return false;
    if (key !== "" && key !== taint.key) return false;
    if (operator === "Exists") return true;
    return (operator ?? "Equal") === "Equal" && key !== "" && value === (taint.value ?? "");
  });
}

/** `actual`: the node's label or field of that key; undefined when it has none. */
export function meetsRequirement({ operator, values = [] }: NodeRequirement, actual: string | undefined): boolean {
  switch (operator) {
    case "In":
      return actual !== undefined && values.includes(actual);
    case "NotIn":
      return actual === undefined || !values.includes(actual);
    case "Exists":
      return actual !== undefined;
    case "DoesNotExist":
      return actual === undefined;
    case "Gt":
      return compared(actual, values, (left, right) => left > right);
    case "Lt":
      return compared(actual, values, (left, right) => left < right);
    default:
      return false;
  }
}

/** Both sides must be label values, which have no sign, and fit into 64 bits. */
function compared(
  actual: string | undefined,
  values: readonly string[],
  holds: (left: bigint, right: bigint) => boolean,
): boolean {
  const [left, right] = [integer(actual), values.length === 1 ? integer(values[0]) : undefined];
  return left !== undefined && right !== undefined && holds(left, right);
}

const MAX_INT64 = 2n ** 63n - 1n;

function integer(text: string | undefined): bigint | undefined {
  if (text === undefined || !/^\d{1,63}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_INT64 ? value : undefined;
}
