import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecodeError, decode } from "./decode.ts";

describe("decoding a built-in kind", () => {
  it("drops unknown fields and names them", () => {
    const body = { metadata: { name: "a", foo: 1 }, spec: { containers: [{ name: "c", bar: 2 }] }, x: 3 };
    const { value, unknown } = decode("Pod", body);
    expect(value).toEqual({ metadata: { name: "a" }, spec: { containers: [{ name: "c" }] } });
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
