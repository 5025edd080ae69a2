import { describe, expect, test } from "vitest";
import { meetsRequirement, type NodeRequirement, type Taint, type Toleration, tolerates } from "./node-rules.ts";

const gpu: Taint = { key: "gpu", value: "a100", effect: "NoSchedule" };

describe("a toleration", () => {
  test.each<[string, Toleration, Taint, boolean]>([
    ["of the same key, value and effect tolerates", { key: "gpu", value: "a100", effect: "NoSchedule" }, gpu, true],
    ["means Equal when it has no operator", { key: "gpu", value: "a100" }, gpu, true],
    ["with another value does not", { key: "gpu", operator: "Equal", value: "t4" }, gpu, false],
    ["without a value means the empty one", { key: "gpu", operator: "Equal" }, gpu, false],
    ["without a value means a taint without one", { key: "gpu" }, { key: "gpu", effect: "NoSchedule" }, true],
    ["that asks for existence ignores the value", { key: "gpu", operator: "Exists" }, gpu, true],
    ["of another key does not", { key: "cpu", operator: "Exists" }, gpu, false],
    ["without a key tolerates all", { operator: "Exists" }, gpu, true],
    ["without a key, of another effect, does not", { operator: "Exists", effect: "NoExecute" }, gpu, false],
    ["without a key must ask for existence", { operator: "Equal", value: "a100" }, gpu, false],
    ["of another effect does not", { key: "gpu", operator: "Exists", effect: "NoExecute" }, gpu, false],
    ["with an unknown operator does not", { key: "gpu", operator: "Lt", value: "a100" }, gpu, false],
  ])("%s", (_, toleration, taint, expected) => {
    expect(tolerates([{ key: "other", operator: "Exists" }, toleration], taint)).toBe(expected);
    expect(tolerates([], taint)).toBe(false);
  });
});

describe("a requirement", () => {
  const table: [NodeRequirement["operator"], string[] | undefined, string | undefined, boolean][] = [
    ["In", ["a", "b"], "b", true],
    ["In", ["a", "b"], "c", false],
    ["In", ["a", "b"], undefined, false],
    ["In", [""], "", true],
    ["NotIn", ["a"], "b", true],
    ["NotIn", ["a"], "a", false],
    ["NotIn", ["a"], undefined, true],
    ["Exists", undefined, "", true],
    ["Exists", undefined, undefined, false],
    ["DoesNotExist", undefined, "a", false],
    ["DoesNotExist", undefined, undefined, true],
    ["Gt", ["4"], "5", true],
    ["Gt", ["4"], "4", false],
    ["Gt", ["4"], "10", true],
    ["Gt", ["4"], "many", false],
    ["Gt", ["4"], undefined, false],
    ["Gt", ["-4"], "5", false],
    ["Gt", ["9007199254740992"], "9007199254740993", true],
    ["Gt", ["4"], "9223372036854775808", false],
    ["Gt", ["3", "4"], "5", false],
    ["Lt", ["4"], "3", true],
    ["Lt", ["4"], "4", false],
    ["Lt", ["4"], "", false],
    ["Near", ["4"], "4", false],
  ];
  test.each(table)("%s %j of the label %j: %s", (operator, values, actual, expected) => {
    expect(meetsRequirement({ key: "k", operator, values }, actual)).toBe(expected);
  });
});
