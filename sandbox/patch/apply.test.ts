import { describe, expect, it } from "vitest";
import { kindSchema } from "../schema/schema.ts";
import { conflicts, dropAbandoned } from "./apply.ts";

const schema = kindSchema("Pod");

describe("server-side apply", () => {
  it("drops what its manager no longer mentions", () => {
    const live = { spec: { hostname: "x", nodeName: "n" } };
    expect(dropAbandoned(schema, live, { spec: { hostname: "x" } }, { spec: {} }, [])).toEqual({
      spec: { nodeName: "n" },
    });
  });

  it("keeps what another manager mentions", () => {
    const live = { spec: { hostname: "x" } };
    const config = { spec: { hostname: "x" } };
    expect(dropAbandoned(schema, live, config, {}, [config])).toEqual(live);
  });

  it("drops elements of keyed lists one by one", () => {
    const live = { spec: { containers: [{ name: "a", image: "1" }, { name: "b" }, { name: "server" }] } };
    const before = { spec: { containers: [{ name: "a", image: "1" }, { name: "b" }] } };
    const after = { spec: { containers: [{ name: "a" }] } };
    expect(dropAbandoned(schema, live, before, after, [])).toEqual({
      spec: { containers: [{ name: "a" }, { name: "server" }] },
    });
  });

  it("finds fields that another manager set to something else", () => {
    const live = { spec: { hostname: "x", containers: [{ name: "a", image: "1" }] } };
    const other = { spec: { hostname: "x", containers: [{ name: "a", image: "1" }] } };
    const wanted = { spec: { hostname: "y", subdomain: "s", containers: [{ name: "a", image: "2" }] } };
    expect(conflicts(schema, wanted, other, live)).toEqual([".spec.hostname", '.spec.containers[name="a"].image']);
    expect(conflicts(schema, live, other, live)).toEqual([]);
  });
});
