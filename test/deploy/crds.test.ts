/** The resources grow: whatever could be written yesterday can be written today, and means the same. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  enum?: string[];
  required?: string[];
  default?: unknown;
  [rule: string]: unknown;
}
interface Definition {
  spec: { versions: { name: string; storage: boolean; schema: { openAPIV3Schema: Schema } }[] };
}

const read = (path: string): Definition => parse(readFileSync(new URL(path, import.meta.url), "utf8")) as Definition;

/** What the later schema forbids, or means otherwise, of what the earlier one allows. */
function* losses(earlier: Schema, later: Schema | undefined, at: string): Generator<string> {
  if (later === undefined) {
    yield `${at} is gone`;
    return;
  }
  const { properties = {}, items, additionalProperties, enum: values = [], ...rules } = earlier;
  for (const [name, property] of Object.entries(properties))
    yield* losses(property, later.properties?.[name], `${at}.${name}`);
  for (const name of later.required ?? [])
    if (earlier.required?.includes(name) !== true) yield `${at}.${name} is required`;
  if (items !== undefined) yield* losses(items, later.items, `${at}[]`);
  if (additionalProperties !== undefined) yield* losses(additionalProperties, later.additionalProperties, `${at}.*`);
  for (const value of values) if (later.enum?.includes(value) !== true) yield `${at} may no longer be ${value}`;
  for (const [rule, value] of Object.entries(rules))
    if (rule !== "description" && rule !== "required" && JSON.stringify(later[rule]) !== JSON.stringify(value))
      yield `${at}: ${rule} was ${JSON.stringify(value)} and is ${JSON.stringify(later[rule])}`;
}

describe.each(["jobqueues", "workerclusters"])("%s", (kind) => {
  const [earlier, later] = [read(`earlier/${kind}.yaml`), read(`../../deploy/crds/${kind}.yaml`)];

  it("have one version, and nothing of the earlier one is lost", () => {
    expect(later.spec.versions.map(({ name, storage }) => `${name} ${storage}`)).toEqual(["v1alpha1 true"]);
    const [before, after] = [earlier, later].map(({ spec }) => spec.versions[0]?.schema.openAPIV3Schema);
    expect([...losses(before ?? {}, after, "")]).toEqual([]);
  });

  it("a field that is taken away, narrowed or demanded is found", () => {
    const before: Schema = {
      properties: { a: { type: "string", enum: ["x", "y"] }, b: { type: "integer", maximum: 5 } },
    };
    const after: Schema = {
      required: ["c"],
      properties: { a: { type: "string", enum: ["x"] }, b: { type: "integer", maximum: 4 } },
    };
    expect([...losses(before, after, "")]).toEqual([
      ".a may no longer be y",
      ".b: maximum was 5 and is 4",
      ".c is required",
    ]);
  });
});
