import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecodeError, decode } from "./decode.ts";
import { type FieldType, kindSchema } from "./schema.ts";

describe("decoding a built-in kind", () => {
  it("drops unknown fields and names them", () => {
    const body = { metadata: { name: "a", foo: 1 }, spec: { containers: [{ name: "c", bar: 2 }] }, x: 3 };
    const { value, unknown } = decode("Pod", body);
    expect(value).toEqual({
      metadata: { name: "a" },
      spec: { containers: [{ name: "c", resources: {} }] },
      status: {},
    });
    expect(unknown).toEqual(["metadata.foo", "spec.containers[0].bar", "x"]);
  });

  it("takes null, and lists and maps without entries, for absent", () => {
    const body = { metadata: { name: "a", labels: {}, finalizers: [], annotations: null }, data: null };
    expect(decode("ConfigMap", body).value).toEqual({ metadata: { name: "a" } });
  });

  it("gives back the same object when nothing has to change", () => {
    const body = { metadata: { name: "a" }, data: { b: "c" } };
    expect(decode("ConfigMap", body).value).toBe(body);
  });

  it.each([
    [
      "Job",
      { spec: { parallelism: "3" } },
      "json: cannot unmarshal string into Go struct field JobSpec.spec.parallelism of type int32",
    ],
    ["Job", { spec: { parallelism: 1.5 } }, "json: cannot unmarshal number 1.5 into Go struct field"],
    [
      "Job",
      { spec: { template: { spec: { containers: {} } } } },
      "PodSpec.spec.template.spec.containers of type []v1.Container",
    ],
    ["Job", { spec: { parallelism: 2 ** 31 } }, "JobSpec.spec.parallelism of type int32"],
    ["Job", { spec: { activeDeadlineSeconds: 1e30 } }, "JobSpec.spec.activeDeadlineSeconds of type int64"],
    ["Job", { spec: { suspend: "true" } }, "JobSpec.spec.suspend of type bool"],
    ["Job", { spec: { selector: [] } }, "JobSpec.spec.selector of type v1.LabelSelector"],
    [
      "Job",
      { spec: { template: { spec: { containers: ["x"] } } } },
      "cannot unmarshal string into Go struct field PodSpec",
    ],
    ["Job", { spec: { podFailurePolicy: { rules: [{ onExitCodes: { values: [1, "2"] } }] } } }, "of type int32"],
    ["Job", { status: { startTime: "yesterday" } }, 'parsing time "yesterday"'],
    ["Job", { status: { startTime: "2026-02-30T00:00:00Z" } }, "parsing time"],
    ["ConfigMap", { data: 3 }, "ConfigMap.data of type map[string]string"],
    ["ConfigMap", { data: { a: 3 } }, "ConfigMap.data of type string"],
    ["ConfigMap", { binaryData: { a: "!" } }, "illegal base64"],
    ["Lease", { spec: { renewTime: "2026-01-01T00:00:00Z" } }, 'as "2006-01-02T15:04:05.000000Z07:00"'],
    ["Pod", { spec: { containers: [{ resources: { limits: { cpu: "x" } } }] } }, "quantities must match"],
    ["Pod", { spec: { hostNetwork: 1 } }, "of type bool"],
    ["Pod", { metadata: [] }, "cannot unmarshal array"],
  ])("refuses a wrong type in a %s: %j", (kind, body, message) => {
    expect(() => decode(kind, body)).toThrow(DecodeError);
    expect(() => decode(kind, body)).toThrow(message);
  });

  it("never fails otherwise, whatever the JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("metadata", "spec", "status", "x"), fc.jsonValue()), (body) => {
        try {
          decode("Pod", body);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
    );
  });
});

const decodedSpec = (spec: unknown): unknown => decode("Job", { metadata: { name: "a" }, spec }).value.spec;

describe("the canonical form", () => {
  it("null, unknown and empty fields go away; fields whose zero means something stay", () => {
    const spec = decodedSpec({
      parallelism: 0,
      completions: null,
      suspend: false,
      unknown: 1,
      selector: { matchLabels: {}, matchExpressions: [] },
      template: { metadata: { labels: {} }, spec: { hostNetwork: false, hostname: "", containers: [{ tty: false }] } },
    });
    expect(spec).toEqual({
      parallelism: 0,
      suspend: false,
      selector: {},
      template: { metadata: {}, spec: { containers: [{ name: "", resources: {} }] } },
    });
  });

  it("null inside lists and maps is the zero value", () => {
    expect(
      decodedSpec({ template: { metadata: { labels: { a: null } }, spec: { containers: [null] } } }),
    ).toMatchObject({
      template: { metadata: { labels: { a: "" } }, spec: { containers: [{ name: "", resources: {} }] } },
    });
  });

  it("quantities and times get their canonical spelling", () => {
    const container = { name: "c", resources: { limits: { cpu: 0.5, memory: "1024Mi" } } };
    expect(decodedSpec({ template: { spec: { containers: [container] } } })).toMatchObject({
      template: { spec: { containers: [{ resources: { limits: { cpu: "500m", memory: "1Gi" } } }] } },
    });
    expect(decode("Job", { status: { startTime: "2026-01-01T01:00:00.250+01:00" } }).value).toMatchObject({
      status: { startTime: "2026-01-01T00:00:00.25Z" },
    });
  });

  it("a map key cannot reach an object's prototype", () => {
    const json = JSON.parse('{"metadata":{"labels":{"__proto__":null,"a":"b"}}}') as Record<string, unknown>;
    const { labels } = decode("Job", json).value.metadata as { labels: object };
    expect(Object.entries(labels)).toEqual([
      ["__proto__", ""],
      ["a", "b"],
    ]);
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });
});

it("changes nothing in what it has made", () => {
  const part = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.constantFrom("Job", "Pod", "Node", "Event"), part, part, (kind, spec, status) => {
      let value: Record<string, unknown>;
      try {
        ({ value } = decode(kind, { metadata: { name: "a" }, spec, status }));
      } catch {
        return;
      }
      expect(decode(kind, value)).toEqual({ value, unknown: [] });
      expect(decode(kind, value).value).toBe(value);
    }),
  );
});

it("knows every kind that another one mentions", () => {
  const seen = new Set<string>();
  const visit = (kind: string): void => {
    if (seen.has(kind)) return;
    seen.add(kind);
    for (const type of kindSchema(kind).values()) visitType(type);
  };
  const visitType = (type: FieldType): void => {
    if (type.tag === "kind") visit(type.kind);
    else if (type.tag === "list") visitType(type.items);
    else if (type.tag === "map") visitType(type.values);
  };
  for (const kind of ["Job", "CronJob", "Pod", "Node", "Event", "CustomResourceDefinition", "MutatingAdmissionPolicy"])
    visit(kind);
  expect(seen.size).toBeGreaterThan(150);
});
