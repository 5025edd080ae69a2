import { describe, expect, test } from "vitest";
import { containerComplaints, podComplaints } from "./testing/pod-cases.ts";

const containers = [{ name: "c", image: "x" }];
const V = "spec.volumes[0]";

describe("volumes", () => {
  const cases: [string, object, string[]][] = [
    ["valid", { emptyDir: { sizeLimit: "1Gi" } }, []],
    ["name", { name: "" }, [`${V}.name Required`]],
    ["two types", { emptyDir: {}, secret: {} }, [`${V}.secret Forbidden`]],
    ["negative size", { emptyDir: { sizeLimit: "-1" } }, [`${V}.emptyDir.sizeLimit Forbidden`]],
    [
      "host path",
      { hostPath: { path: "/a/../b", type: "Odd" } },
      [`${V}.hostPath.path Invalid`, `${V}.hostPath.type NotSupported`],
    ],
    [
      "secret",
      { secret: { defaultMode: 512 } },
      [`${V}.secret.defaultMode Invalid`, `${V}.secret.secretName Required`],
    ],
    [
      "config map item",
      { configMap: { name: "m", items: [{ key: "", path: "/x" }] } },
      [`${V}.configMap.items[0].key Required`, `${V}.configMap.items[0].path Invalid`],
    ],
    ["claim", { persistentVolumeClaim: { claimName: "" } }, [`${V}.persistentVolumeClaim.claimName Required`]],
    ["nfs", { nfs: { server: "", path: "rel" } }, [`${V}.nfs.path Invalid`, `${V}.nfs.server Required`]],
    ["downward API", { downwardAPI: { items: [{ path: "a" }] } }, [`${V}.downwardAPI Required`]],
    [
      "token lifetime",
      { projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 1 } }] } },
      [
        `${V}.projected.sources[0].serviceAccountToken Forbidden`,
        `${V}.projected.sources[0].serviceAccountToken.expirationSeconds Invalid`,
      ],
    ],
    [
      "one path twice",
      {
        projected: {
          sources: [
            {
              secret: {
                name: "s",
                items: [
                  { key: "a", path: "p" },
                  { key: "b", path: "p" },
                ],
              },
            },
          ],
        },
      },
      [`${V}.projected Invalid`],
    ],
    ["csi driver", { csi: { driver: "" } }, [`${V}.csi.driver Required`]],
    [
      "image",
      { image: { pullPolicy: "Odd" } },
      [`${V}.image.pullPolicy NotSupported`, `${V}.image.reference Required`],
    ],
  ];
  test.each(cases)("%s", (_name, volume, want) => {
    expect(podComplaints({ containers, volumes: [{ name: "v", ...volume }] })).toEqual(want);
  });

  test("two of one name", () => {
    const volumes = [{ name: "v" }, { name: "v" }];
    expect(podComplaints({ containers, volumes })).toEqual(["spec.volumes[1].name Duplicate"]);
  });
});

describe("mounts", () => {
  const mount = (fields: object) => ({ volumeMounts: [{ name: "v", mountPath: "/a", ...fields }] });
  const cases: [string, object, string[]][] = [
    ["valid", mount({}), []],
    ["volume that is not there", mount({ name: "w" }), ["volumeMounts[0].name NotFound"]],
    ["no path", mount({ mountPath: "" }), ["volumeMounts[0].mountPath Required"]],
    [
      "one path twice",
      {
        volumeMounts: [
          { name: "v", mountPath: "/a" },
          { name: "v", mountPath: "/a" },
        ],
      },
      ["volumeMounts[1].mountPath Invalid"],
    ],
    ["sub-path", mount({ subPath: "../x" }), ["volumeMounts.subPath Invalid"]],
    ["propagation", mount({ mountPropagation: "Bidirectional" }), ["volumeMounts.mountPropagation Forbidden"]],
    ["recursive read-only", mount({ recursiveReadOnly: "Enabled" }), ["volumeMounts.recursiveReadOnly Forbidden"]],
    [
      "device that is not a claim",
      { volumeDevices: [{ name: "v", devicePath: "/d" }] },
      ["volumeDevices[0].name Invalid"],
    ],
  ];
  test.each(cases)("%s", (_name, container, want) => {
    expect(containerComplaints(container, { volumes: [{ name: "v", emptyDir: {} }] })).toEqual(want);
  });
});
