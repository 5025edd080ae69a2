import { describe, expect, it } from "vitest";
import { readAccept } from "./accept.ts";

describe("the Accept header", () => {
  it.each([
    [undefined, "object", false],
    ["*/*", "object", false],
    ["application/json", "object", false],
    ["application/yaml", "object", true],
    ["application/vnd.kubernetes.protobuf,application/json", "object", false],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "table", false],
    ["application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "metadata", false],
    ["application/json;as=Chart,application/json", "object", false],
  ])("%s", (header, view, yaml) => {
    expect(readAccept(header)).toEqual({ view, yaml });
  });

  it("is refused when nothing in it can be served", () => {
    expect(() => readAccept("text/html")).toThrow("406: Not Acceptable");
  });
});
