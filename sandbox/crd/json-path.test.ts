import { describe, expect, it } from "vitest";
import { compilePath } from "./json-path.ts";

const object = {
  spec: { size: 3, "odd.key": "x" },
  status: {
    conditions: [
      { type: "Ready", status: "True" },
      { type: "Connected", status: "False" },
    ],
  },
};

describe("paths of printer columns", () => {
  it.each([
    [".spec.size", 3],
    ["spec.size", 3],
    [".spec['odd.key']", "x"],
    [".status.conditions[1].type", "Connected"],
    [".status.conditions[*].type", "Ready"],
    ['.status.conditions[?(@.type=="Connected")].status', "False"],
    [".status.conditions[?(@.type=='Lost')].status", undefined],
    [".spec.none.deeper", undefined],
  ])("%s", (path, wanted) => {
    expect(compilePath(path)?.(object)).toBe(wanted);
  });

  it("are refused when they need more", () => {
    expect(compilePath(".a..b")).toBeUndefined();
    expect(compilePath(".a[?(@.b>1)]")).toBeUndefined();
  });
});
