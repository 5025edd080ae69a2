import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeAs } from "./decode.ts";
import { SCALARS } from "./notation.ts";
import { TYPES } from "./types.ts";

const decodeJob = (json: unknown) => decodeAs<Job>("Job", json);
const decodePod = (json: unknown) => decodeAs<Pod>("Pod", json);
const jobJson = (spec: unknown) => ({ metadata: { name: "a" }, spec });
const decodedSpec = (spec: unknown) => {
  const decoded = decodeJob(jobJson(spec));
  if ("error" in decoded) throw new Error(decoded.error.message);
  return decoded.value.spec;
};

describe("values of the wrong type are decode errors that name the field", () => {
  const cases: [unknown, string][] = [
    [{ parallelism: "1" }, "spec.parallelism"],
    [{ parallelism: 1.5 }, "spec.parallelism"],
    [{ parallelism: 2 ** 31 }, "spec.parallelism"],
    [{ activeDeadlineSeconds: 1e30 }, "spec.activeDeadlineSeconds"],
    [{ suspend: "true" }, "spec.suspend"],
    [{ completionMode: 1 }, "spec.completionMode"],
    [{ selector: [] }, "spec.selector"],
    [{ selector: { matchLabels: { a: 1 } } }, "spec.selector.matchLabels[a]"],
    [{ template: { spec: { containers: {} } } }, "spec.template.spec.containers"],
    [{ template: { spec: { containers: ["x"] } } }, "spec.template.spec.containers[0]"],
    [
      { template: { spec: { containers: [{ resources: { limits: { cpu: "1x" } } }] } } },
      "spec.template.spec.containers[0].resources.limits[cpu]",
    ],
    [
      { podFailurePolicy: { rules: [{ onExitCodes: { values: [1, "2"] } }] } },
      "spec.podFailurePolicy.rules[0].onExitCodes.values[1]",
    ],
  ];
  test.each(cases)("%j -> %s", (spec, field) => {
    expect(decodeJob(jobJson(spec))).toMatchObject({ error: { field } });
  });

  test("so are a bad time and a non-object", () => {
    expect(decodeJob({ status: { startTime: "yesterday" } })).toMatchObject({ error: { field: "status.startTime" } });
    for (const json of [null, 1, "x", []]) expect(decodeJob(json)).toHaveProperty("error");
  });
});

describe("normal form", () => {
  test("null, unknown and empty fields go away; fields whose zero means something stay", () => {
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

  test("null inside lists and maps is the zero value", () => {
    expect(
      decodedSpec({ template: { metadata: { labels: { a: null } }, spec: { containers: [null] } } }),
    ).toMatchObject({
      template: { metadata: { labels: { a: "" } }, spec: { containers: [{ name: "", resources: {} }] } },
    });
  });

  test("quantities and times get their canonical spelling", () => {
    const container = { name: "c", resources: { limits: { cpu: 0.5, memory: "1024Mi" } } };
    expect(decodedSpec({ template: { spec: { containers: [container] } } })).toMatchObject({
      template: { spec: { containers: [{ resources: { limits: { cpu: "500m", memory: "1Gi" } } }] } },
    });
    expect(decodeJob({ status: { startTime: "2026-01-01T01:00:00.250+01:00" } })).toMatchObject({
      value: { status: { startTime: "2026-01-01T00:00:00.25Z" } },
    });
  });

  test("a map key cannot reach an object's prototype", () => {
    const json: unknown = JSON.parse('{"metadata":{"labels":{"__proto__":"x","a":"b"}}}');
    expect(Object.entries(decodeJob(json))).toBeDefined();
    expect(decodeJob(json)).toMatchObject({ value: { metadata: { labels: { a: "b" } } } });
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });
});

test("every type that a table mentions exists", () => {
  for (const [owner, fields] of TYPES) {
    for (const { name, type } of fields) {
      const known = TYPES.has(type) || SCALARS.some((scalar) => scalar === type);
      expect(known, `${owner}.${name}: ${type}`).toBe(true);
    }
  }
});

test("decoding never throws, and decoding its result changes nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (spec, status) => {
      for (const decode of [decodeJob, decodePod]) {
        const decoded = decode({ metadata: { name: "a" }, spec, status });
        if ("value" in decoded) expect(decode(decoded.value)).toEqual(decoded);
      }
    }),
  );
});
