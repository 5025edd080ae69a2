/** Structured mutation: begins with something valid, and changes a few places of it in ways that parsers are known to trip over. */
import fc from "fast-check";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Change {
  /** Which of all places, counted round. */
  readonly place: number;
  readonly how: "replace" | "remove" | "double" | "nest" | "rename" | "stretch";
  readonly by: Json;
  readonly key: string;
}

const LONG = 70_000;
const keys = fc.constantFrom(
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "",
    " ",
    "a".repeat(400),
    "\u0000",
    "é",
    "..",
    "*",
    ":",
  ],
);
const values = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1,
    -0,
    1.5,
    2 ** 31,
    2 ** 53,
    1e308,
    "",
    "0",
    "-1",
    "NaN",
    "1e9",
    [],
    {},
  ),
  fc.constantFrom<Json>("x".repeat(LONG), "0,".repeat(LONG / 2), "0-".repeat(LONG / 2), "((".repeat(LONG / 2)),
  fc.constantFrom<Json>("!a,".repeat(LONG / 3), "9".repeat(LONG), "eyJ-".repeat(LONG / 4), "\u0001".repeat(LONG)),
  fc.string({ unit: "binary" }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

export const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    place: fc.nat(),
    how: fc.constantFrom("replace", "remove", "double", "nest", "rename", "stretch"),
    by: values,
    key: keys,
  }),
  { minLength: 1, maxLength: 4 },
);

/** A copy with these changes. */
export function mutated(valid: unknown, made: readonly Change[]): Json {
  let copy = JSON.parse(JSON.stringify(valid)) as Json;
  for (const change of made) {
    const places = placesOf(copy);
    const at = places[change.place % Math.max(1, places.length)];
    if (at === undefined) copy = change.by;
    else apply(at, change);
  }
  return copy;
}

interface Place {
  readonly holder: Json[] | { [key: string]: Json };
  readonly key: string;
}

function placesOf(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, below] of Object.entries(value)) {
    found.push({ holder: value, key });
    placesOf(below, found);
  }
  return found;
}

function apply({ holder, key }: Place, { how, by, key: name }: Change): void {
  const there = (holder as Record<string, Json>)[key] ?? null;
  const put = (at: string, value: Json): void => {
    Object.defineProperty(holder, at, { value, enumerable: true, configurable: true, writable: true });
  };
  switch (how) {
    case "replace":
      put(key, by);
      break;
    case "remove":
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case "double":
      if (Array.isArray(holder)) holder.push(there);
      else put(name, there);
      break;
    case "nest": {
      let nested = there;
      for (let depth = 0; depth < 80; depth++) nested = depth % 2 === 0 ? [nested] : { [key]: nested };
      put(key, nested);
      break;
    }
    case "rename":
      if (Array.isArray(holder)) put(key, { [name]: there });
      else {
        delete holder[key];
        put(name, there);
      }
      break;
    case "stretch":
      put(key, stretched(there));
  }
}

function stretched(value: Json): Json {
  if (typeof value === "string") return value.repeat(3_000).slice(0, LONG);
  const size = JSON.stringify(value).length;
  return Array.from({ length: Math.max(2, Math.min(3_000, Math.floor(LONG / size))) }, () => value);
}

/** Text with some of its characters changed, left out or doubled. */
export const slips: fc.Arbitrary<readonly (readonly [number, string])[]> = fc.array(
  fc.tuple(
    fc.nat(),
    fc.oneof(fc.constantFrom("", "\u0000", "/", "%", "%zz", "..", "\n", ":", "é", "😀"), fc.string({ maxLength: 3 })),
  ),
  { minLength: 1, maxLength: 6 },
);

export function slipped(text: string, made: readonly (readonly [number, string])[]): string {
  let result = text;
  for (const [place, by] of made) {
    const at = place % (result.length + 1);
    result = result.slice(0, at) + by + result.slice(at + (place % 3));
  }
  return result;
}
