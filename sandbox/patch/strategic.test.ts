import { describe, expect, it } from "vitest";
import { MergeKeyError, PatchError, strategicMerge } from "./strategic.ts";

const pod = (spec: object, metadata: object = {}) => ({ metadata, spec });
const containers = (...list: object[]) => ({ containers: list });

describe("strategic merge patch", () => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>][] = [
    [
      "merges containers by name",
      pod(containers({ name: "a", image: "1" }, { name: "b", image: "1" })),
      pod(containers({ name: "b", image: "2" })),
      pod(containers({ name: "a", image: "1" }, { name: "b", image: "2" })),
    ],
    [
      "puts new elements in front of those only the server has",
      pod(containers({ name: "a" })),
      pod(containers({ name: "b" })),
      pod(containers({ name: "b" }, { name: "a" })),
    ],
    [
      "merges env inside a container",
      pod(containers({ name: "a", env: [{ name: "X", value: "1" }] })),
      pod(containers({ name: "a", env: [{ name: "X", value: "2" }] })),
      pod(containers({ name: "a", env: [{ name: "X", value: "2" }] })),
    ],
    [
      "deletes an element",
      pod(containers({ name: "a" }, { name: "b" })),
      pod(containers({ name: "a", $patch: "delete" })),
      pod(containers({ name: "b" })),
    ],
    [
      "replaces a list",
      pod(containers({ name: "a" }, { name: "b" })),
      pod(containers({ name: "c" }, { $patch: "replace" })),
      pod(containers({ name: "c" })),
    ],
    [
      "replaces an object",
      pod({ securityContext: { runAsUser: 1, fsGroup: 2 } }),
      pod({ securityContext: { $patch: "replace", fsGroup: 3 } }),
      pod({ securityContext: { fsGroup: 3 } }),
    ],
    ["removes with null", pod({ hostname: "x" }), pod({ hostname: null }), pod({})],
    [
      "replaces lists without a merge key",
      pod({ tolerations: [{ key: "a" }] }),
      pod({ tolerations: [] }),
      pod({ tolerations: [] }),
    ],
    [
      "orders elements",
      pod(containers({ name: "a" }, { name: "b" }, { name: "c" })),
      { spec: { "$setElementOrder/containers": [{ name: "c" }, { name: "a" }] } },
      pod(containers({ name: "b" }, { name: "c" }, { name: "a" })),
    ],
    [
      "keeps only the retained keys",
      pod({ volumes: [{ name: "v", emptyDir: {} }] }),
      pod({ volumes: [{ name: "v", $retainKeys: ["name", "hostPath"], hostPath: { path: "/" } }] }),
      pod({ volumes: [{ name: "v", hostPath: { path: "/" } }] }),
    ],
    [
      "adds to finalizers",
      pod({}, { finalizers: ["a/b"] }),
      { metadata: { finalizers: ["c/d"] } },
      pod({}, { finalizers: ["c/d", "a/b"] }),
    ],
    [
      "removes from finalizers",
      pod({}, { finalizers: ["a/b", "c/d"] }),
      { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/b"] } },
      pod({}, { finalizers: ["c/d"] }),
    ],
    [
      "merges owners by uid",
      pod({}, { ownerReferences: [{ uid: "1", name: "x" }] }),
      { metadata: { ownerReferences: [{ uid: "1", controller: true }] } },
      pod({}, { ownerReferences: [{ uid: "1", name: "x", controller: true }] }),
    ],
    [
      "merges conditions by type",
      {
        status: {
          conditions: [
            { type: "Ready", status: "False" },
            { type: "Initialized", status: "True" },
          ],
        },
      },
      { status: { conditions: [{ type: "Ready", status: "True" }] } },
      {
        status: {
          conditions: [
            { type: "Ready", status: "True" },
            { type: "Initialized", status: "True" },
          ],
        },
      },
    ],
  ];
  it.each(cases)("%s", (_, target, patch, wanted) => {
    const before = structuredClone(target);
    expect(strategicMerge("Pod", target, patch)).toEqual(wanted);
    expect(target).toEqual(before);
  });

  it("refuses an element without its merge key", () => {
    const patch = pod(containers({ image: "x", command: ["a", "b"] }));
    expect(() => strategicMerge("Pod", pod({}), patch)).toThrow(MergeKeyError);
    expect(() => strategicMerge("Pod", pod({}), patch)).toThrow("map[command:[a b] image:x]");
  });

  it.each([
    ["an unknown directive", pod({ securityContext: { $patch: "explode" } })],
    ["an object for a list", pod({ containers: { name: "a" } })],
    ["a directive that is not a list", { metadata: { "$deleteFromPrimitiveList/finalizers": "a" } }],
    ["retained keys that miss one", pod({ volumes: [{ name: "v", $retainKeys: ["name"], emptyDir: {} }] })],
  ])("refuses %s", (_, patch) => {
    expect(() => strategicMerge("Pod", pod({ volumes: [{ name: "v" }] }), patch)).toThrow(PatchError);
  });
});
