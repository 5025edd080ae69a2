import { expect, test } from "vitest";
import { nodeObject } from "./node-objects.ts";
import { NodeSlot } from "./node-slot.ts";
import { needsOf } from "./pod-needs.ts";
import type { Taint } from "./resources.ts";
import { aPod } from "./testing/pod.ts";

const slot = (taints: Taint[] = []): NodeSlot =>
  new NodeSlot(
    nodeObject({ cpu: "2", memory: "1Gi", pods: 2, labels: { zone: "a", size: "10" }, taints }, "n1", "172.20.0.1", 0),
  );
const misfits = (changes: Parameters<typeof aPod>[1], on = slot()): string[] => on.misfits(needsOf(aPod("p", changes)));
const affinity = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});

test("what is taken is no longer free, and free again when given back", () => {
  const node = slot();
  const needs = needsOf(aPod("p", { containers: [{ resources: { requests: { cpu: "1500m", memory: "1Gi" } } }] }));
  expect(node.misfits(needs)).toEqual([]);
  node.take(needs.requests);
  expect(node.misfits(needs)).toEqual(["Insufficient cpu", "Insufficient memory"]);
  expect(node.load()).toBe(1);
  node.giveBack(needs.requests);
  expect(node.misfits(needs)).toEqual([]);
  expect(node.load()).toBe(0);
});

test("a node takes no more pods than it says", () => {
  const node = slot();
  for (let i = 0; i < 2; i++) node.take(needsOf(aPod("p")).requests);
  expect(misfits({}, node)).toEqual(["Too many pods"]);
});

test("a resource the node does not have is missing", () => {
  expect(misfits({ containers: [{ resources: { requests: { "example.com/gpu": 1 } } }] })).toEqual([
    "Insufficient example.com/gpu",
  ]);
});

const SELECTOR = ["node(s) didn't match Pod's node affinity/selector"];

test.each([
  ["label matches", { nodeSelector: { zone: "a" } }, []],
  ["label differs", { nodeSelector: { zone: "b" } }, SELECTOR],
  ["In", affinity(expression("zone", "In", "a", "b")), []],
  ["In misses", affinity(expression("zone", "In", "b")), SELECTOR],
  ["NotIn", affinity(expression("zone", "NotIn", "a")), SELECTOR],
  ["NotIn without the label", affinity(expression("other", "NotIn", "a")), []],
  ["Exists", affinity(expression("other", "Exists")), SELECTOR],
  ["DoesNotExist", affinity(expression("other", "DoesNotExist")), []],
  ["Gt", affinity(expression("size", "Gt", "9")), []],
  ["Lt", affinity(expression("size", "Lt", "9")), SELECTOR],
  ["one of two terms", affinity(expression("zone", "In", "b"), expression("zone", "In", "a")), []],
  ["an empty term matches nothing", affinity({}), SELECTOR],
  ["by name", affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }), []],
  ["by another name", affinity({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n2"] }] }), SELECTOR],
])("selectors: %s", (_, changes, expected) => {
  expect(misfits(changes)).toEqual(expected);
});

const taint = { key: "team", value: "blue", effect: "NoSchedule" };
const TAINTED = ["node(s) had untolerated taint {team: blue}"];

test.each([
  ["none", [], TAINTED],
  ["same key, value and effect", [{ key: "team", value: "blue", effect: "NoSchedule" }], []],
  ["another value", [{ key: "team", value: "red" }], TAINTED],
  ["Exists", [{ key: "team", operator: "Exists" }], []],
  ["everything", [{ operator: "Exists" }], []],
  ["another effect", [{ key: "team", operator: "Exists", effect: "NoExecute" }], TAINTED],
])("tolerations: %s", (_, tolerations, expected) => {
  expect(misfits({ tolerations }, slot([taint]))).toEqual(expected);
});

test("a taint that only prefers keeps nobody away; a cordon does", () => {
  expect(misfits({}, slot([{ ...taint, effect: "PreferNoSchedule" }]))).toEqual([]);
  const cordoned = slot();
  cordoned.update({ ...nodeObject({}, "n1", "172.20.0.1", 0), spec: { unschedulable: true } });
  expect(misfits({}, cordoned)).toEqual(["node(s) were unschedulable"]);
});
