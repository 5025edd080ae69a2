import fc from "fast-check";
import { expect, test } from "vitest";
import { podRequests, resourceUnits, unitsOf } from "./requests.ts";

test.each([
  ["1", 1],
  ["1.5", 1.5],
  [".5", 0.5],
  ["500m", 0.5],
  ["100u", 0.001],
  ["1k", 1000],
  ["1Ki", 1024],
  ["64Mi", 64 * 2 ** 20],
  ["2e3", 2000],
  ["1E3", 1000],
  ["1E", 1e18],
  ["-1", -1],
  [3, 3],
])("%s is %d", (text, value) => {
  expect(unitsOf(text)).toBeCloseTo(value, 9);
});

test.each(["", "abc", "1Kib", "1 Gi", "1.2.3", "Ki"])("%j is not a quantity", (text) => {
  expect(unitsOf(text)).toBeUndefined();
});

test("CPUs are counted in thousandths, everything else in whole units, rounded up", () => {
  expect(resourceUnits("cpu", "0.1")).toBe(100);
  expect(resourceUnits("cpu", "1500u")).toBe(2);
  expect(resourceUnits("memory", "1.5")).toBe(2);
  expect(resourceUnits("memory", "1Gi")).toBe(2 ** 30);
});

test("milli-CPUs survive the way through text", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 1e9 }), (milli) => resourceUnits("cpu", `${milli}m`) === milli));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e6 }), (milli) => resourceUnits("cpu", String(milli / 1000)) === milli),
  );
});

test.each<[string, object, Record<string, string>, Record<string, number>]>([
  ["its requests replace those of the containers", { requests: { cpu: "4" } }, { cpu: "1" }, { cpu: 4000 }],
  ["a limit counts where the containers ask for nothing", { limits: { cpu: "4" } }, {}, { cpu: 4000 }],
  ["a limit does not where they ask for something", { limits: { cpu: "4" } }, { cpu: "1" }, { cpu: 1000 }],
  ["of huge pages it does", { limits: { "hugepages-2Mi": "4" } }, { "hugepages-2Mi": "2" }, { "hugepages-2Mi": 4 }],
  ["of other resources only the containers count", { requests: { "example.com/gpu": "4" } }, {}, {}],
])("a pod that asks as a whole: %s", (_, resources, requests, expected) => {
  const spec = { containers: [{ name: "main", resources: { requests } }], resources };
  expect(Object.fromEntries(podRequests(spec))).toEqual({ pods: 1, ...expected });
});

test("overhead comes on top of what the pod asks for as a whole", () => {
  const spec = { containers: [{ name: "main" }], resources: { requests: { cpu: "1" } }, overhead: { cpu: "250m" } };
  expect(podRequests(spec).get("cpu")).toBe(1250);
});
