import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../run.ts";
import { code, type Page, table } from "./markdown.ts";

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly maxProperties?: number;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-validations"?: readonly { readonly message?: string }[];
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string; readonly shortNames?: readonly string[] };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

const FILES = ["workerclusters", "jobqueues", "logreadings"].map((name) => `deploy/crds/${name}.yaml`);
/** As Kubernetes defines them; their fields would only fill the page. */
const WELL_KNOWN: Record<string, string> = {
  clusterSelector: "LabelSelector",
  namespaceSelector: "LabelSelector",
  conditions: "[]Condition",
};

function typeOf(name: string, schema: Schema): string {
  if (WELL_KNOWN[name] !== undefined) return WELL_KNOWN[name];
  if (schema["x-kubernetes-int-or-string"]) return "quantity";
  if (schema.enum !== undefined) return schema.enum.join(", ");
  if (schema.items !== undefined) return `[]${typeOf("", schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf("", schema.additionalProperties)}`;
  return schema.format === "date-time" ? "time" : (schema.type ?? "");
}

function limitsOf(schema: Schema): string {
  const { minimum, maximum, maxItems, maxLength, maxProperties } = schema;
  return [
    ...(minimum === undefined && maximum === undefined ? [] : [`${minimum ?? ""} to ${maximum ?? ""}`.trim()]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(maxProperties === undefined ? [] : [`at most ${maxProperties}`]),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(schema["x-kubernetes-validations"] ?? []).flatMap(({ message }) => message ?? []),
  ]
    .map((limit) => limit.replace(/ to$/, " or more"))
    .join("; ");
}

function fieldRows(kind: string, path: string, schema: Schema): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = `${path}.${name}`;
    if (field.description === undefined)
      throw new Error(`deploy/crds: ${kind} ${at} has no description: kubectl explain and the reference need one`);
    const fallback = field.default === undefined ? "" : code(JSON.stringify(field.default).replaceAll('"', ""));
    const required = schema.required?.includes(name) ? "required" : fallback;
    const row = [code(at), typeOf(name, field), required, limitsOf(field), field.description.replace(/\.$/, "")];
    return [row, ...(WELL_KNOWN[name] === undefined ? fieldRows(kind, at, field) : [])];
  });
}

function section(file: string): string {
  const text = readFileSync(join(root, file), "utf8");
  const [, purpose = ""] = /^# (.*)$/m.exec(text) ?? [];
  const { group, scope, names, versions } = (parse(text) as Definition).spec;
  const [version] = versions;
  if (version === undefined) throw new Error(`${file} has no version`);
  const { properties = {}, ...whole } = version.schema.openAPIV3Schema;
  const short = (names.shortNames ?? []).map((name) => code(name)).join(", ");
  const rows = (["spec", "status"] as const).flatMap((part) => fieldRows(names.kind, part, properties[part] ?? {}));
  return [
    `## ${names.kind}`,
    `${purpose} \`${group}/${version.name}\`, ${scope === "Cluster" ? "of the whole cluster" : "in a namespace"}; \`kubectl get ${names.plural}\` (${short}).`,
    ...(whole["x-kubernetes-validations"] ?? []).flatMap(({ message }) =>
      message === undefined ? [] : ["", `Rule: ${message}.`],
    ),
    "",
    table(["field", "type", "default", "limits", "meaning"], rows),
  ].join("\n");
}

export const resourcesPage = (): Page => ({
  file: "resources.md",
  title: "WorkerCluster and JobQueue",
  from: "`deploy/crds`",
  body: FILES.map(section).join("\n\n"),
});
