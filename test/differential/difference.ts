/** Where two JSON values differ, one line per place. */
export function differences(left: unknown, right: unknown, path = ""): string[] {
  if (Object.is(left, right)) return [];
  if (!isBranch(left) || !isBranch(right)) return [`${path || "all"}: ${text(left)} | ${text(right)}`];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].flatMap((key) => differences(left[key], right[key], path === "" ? key : `${path}.${key}`));
}

const isBranch = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const text = (value: unknown): string => JSON.stringify(value) ?? "absent";
