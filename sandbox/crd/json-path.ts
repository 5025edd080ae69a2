/** The JSONPath of printer columns: `.a.b`, `['a']`, `[0]`, and filters like `[?(@.type=="Ready")]`. */
import { isRecord } from "../store/frozen.ts";

type Step = (values: unknown[]) => unknown[];

const STEP = /\.([^.[\]]+)|\['([^']*)'\]|\[(\d+)\]|\[\*\]|\[\?\(@\.([^=!<>\s]+)\s*==\s*(?:"([^"]*)"|'([^']*)')\)\]/y;

/** undefined when the path is not one of these forms. */
export function compilePath(path: string): ((object: unknown) => unknown) | undefined {
  const steps: Step[] = [];
  const text = path.startsWith(".") || path.startsWith("[") ? path : `.${path}`;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < text.length) {
    const match = STEP.exec(text);
    if (match === null) return undefined;
    steps.push(stepOf(match));
  }
  return (object) => steps.reduce<unknown[]>((values, step) => step(values), [object])[0];
}

function stepOf([whole, plain, quoted, index, field, double, single]: RegExpExecArray): Step {
  const name = plain ?? quoted;
  if (name !== undefined) return (values) => values.flatMap((value) => member(value, name));
  if (index !== undefined)
    return (values) => values.flatMap((value) => listOf(value).slice(Number(index), Number(index) + 1));
  if (whole === "[*]") return (values) => values.flatMap(listOf);
  const wanted = double ?? single;
  const path = (field ?? "").split(".");
  const read = (item: unknown): unknown => path.reduce((value: unknown, key) => member(value, key)[0], item);
  return (values) => values.flatMap(listOf).filter((item) => read(item) === wanted);
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const member = (value: unknown, name: string): unknown[] =>
  isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : [];
