/**
 * Extension (KD-12): ranges of exit codes in a pod failure policy, which the released API can only list one by one. The
 * annotation maps the position of an `onExitCodes` rule to codes and ranges that count as if they stood in its `values`,
 * for `In` and `NotIn` alike. A value that is not exactly right is ignored as a whole: half a policy is worse than none.
 */
import type { Job, PodFailurePolicyRule } from "@jobferry/shared/job/types.ts";

/** Job, by the submitter: ranges of exit codes for rules of its failure policy ([more](../extensions.md)). */
export const EXIT_CODE_RANGES = "jobferry.dev/exit-code-ranges";

export const EXIT_CODE_RANGES_HELP =
  'write {"0": "1-12,100-127"}: the position of an onExitCodes rule in spec.podFailurePolicy.rules, then its codes and ranges in ascending order';

export interface ExitCodeRange {
  readonly from: number;
  readonly to: number;
}

export type RangesByRule = ReadonlyMap<number, readonly ExitCodeRange[]>;
export type ParsedRanges = { readonly ranges: RangesByRule } | { readonly problem: string };

/** A rule's list stays a line that a person can check; ranges make it short. */
const MAX_RANGES = 64;
/** Twenty rules (K-33) of some lines each. */
const MAX_CHARS = 8192;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
/** PF-8: codes may be negative, as in `-5--1`. */
const RANGE = /^(0|-?[1-9]\d{0,9})(?:-(0|-?[1-9]\d{0,9}))?$/;
const POSITION = /^(?:0|[1-9]\d?)$/;

const none: RangesByRule = new Map();
/** A pass asks for every failed pod; cached Jobs do not change. */
const parsed = new WeakMap<Job, ParsedRanges>();

/** What counts besides the `values` of each rule; nothing when the annotation is missing or wrong. */
export function exitCodeRangesOf(job: Job): RangesByRule {
  const result = readExitCodeRanges(job);
  return "ranges" in result ? result.ranges : none;
}

export function readExitCodeRanges(job: Job): ParsedRanges {
  const text = job.metadata.annotations?.[EXIT_CODE_RANGES];
  if (text === undefined) return { ranges: none };
  const known = parsed.get(job);
  if (known !== undefined) return known;
  const result = parseExitCodeRanges(text, job.spec.podFailurePolicy?.rules ?? []);
  parsed.set(job, result);
  return result;
}

export const isInRanges = (exitCode: number, ranges: readonly ExitCodeRange[] = []): boolean =>
  ranges.some(({ from, to }) => from <= exitCode && exitCode <= to);

export function parseExitCodeRanges(text: string, rules: readonly PodFailurePolicyRule[]): ParsedRanges {
  const entries = entriesOf(text);
  if (entries === undefined) return { problem: `it is not a JSON object of at most ${MAX_CHARS} characters` };
  const ranges = new Map<number, readonly ExitCodeRange[]>();
  for (const [position, list] of entries) {
    const requirement = POSITION.test(position) ? rules[Number(position)]?.onExitCodes : undefined;
    if (requirement === undefined) return { problem: `${quoted(position)} is not the position of an onExitCodes rule` };
    if (typeof list !== "string") return { problem: `the ranges of rule ${position} are not a string` };
    const result = parseList(list, requirement.operator === "In");
    if (typeof result === "string") return { problem: `rule ${position}: ${result}` };
    ranges.set(Number(position), result);
  }
  return { ranges };
}

function entriesOf(text: string): [string, unknown][] | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

/** A sentence when the list is wrong. `failuresOnly`: the API refuses 0 in `In`, and so do we (VC-31). */
function parseList(list: string, failuresOnly: boolean): ExitCodeRange[] | string {
  const items = list.split(",");
  if (items.length > MAX_RANGES) return `there are ${items.length} ranges, at most ${MAX_RANGES} are allowed`;
  const ranges: ExitCodeRange[] = [];
  for (const item of items) {
    const range = parseRange(item);
    if (range === undefined) return `${quoted(item)} is neither an exit code nor a range of them`;
    const before = ranges.at(-1);
    if (before !== undefined && range.from <= before.to) return `${quoted(item)} does not begin after ${before.to}`;
    if (failuresOnly && isInRanges(0, [range])) return `${quoted(item)} contains 0, which operator In cannot match`;
    ranges.push(range);
  }
  return ranges;
}

function parseRange(item: string): ExitCodeRange | undefined {
  const match = RANGE.exec(item);
  if (match === null) return undefined;
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  return INT32_MIN <= from && from <= to && to <= INT32_MAX ? { from, to } : undefined;
}

/** Whatever was written there, an event shows a line of it. */
const quoted = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
