import { expect, test } from "vitest";
import type { PodTemplate } from "../job/types.ts";
import { type ReferredKind, referencesOf, renameReferences } from "./template.ts";

const podTemplate = (spec: object): PodTemplate => ({ spec: { containers: [{ name: "main" }], ...spec } });
const container = (fields: object) => ({ name: "main", ...fields });
const volume = (fields: object) => podTemplate({ volumes: [{ name: "v", ...fields }] });
const env = (valueFrom: object) => podTemplate({ containers: [container({ env: [{ name: "A", valueFrom }] })] });

/** Each place of a template that can hold a name; the name is always `x`. */
const PLACES: [place: string, template: PodTemplate, kind: ReferredKind, optional?: "optional"][] = [
  ["env configMapKeyRef", env({ configMapKeyRef: { name: "x", key: "k" } }), "ConfigMap"],
  ["env secretKeyRef", env({ secretKeyRef: { name: "x", key: "k" } }), "Secret"],
  ["env, optional", env({ secretKeyRef: { name: "x", key: "k", optional: true } }), "Secret", "optional"],
  ["envFrom", podTemplate({ containers: [container({ envFrom: [{ configMapRef: { name: "x" } }] })] }), "ConfigMap"],
  [
    "envFrom secretRef",
    podTemplate({ containers: [container({ envFrom: [{ secretRef: { name: "x" } }] })] }),
    "Secret",
  ],
  [
    "an init container",
    podTemplate({ initContainers: [container({ envFrom: [{ secretRef: { name: "x" } }] })] }),
    "Secret",
  ],
  [
    "a sidecar",
    podTemplate({
      initContainers: [container({ restartPolicy: "Always", envFrom: [{ configMapRef: { name: "x" } }] })],
    }),
    "ConfigMap",
  ],
  [
    "a configMap volume",
    volume({ configMap: { name: "x", defaultMode: 0o400, items: [{ key: "a", path: "b" }] } }),
    "ConfigMap",
  ],
  ["an optional configMap volume", volume({ configMap: { name: "x", optional: true } }), "ConfigMap", "optional"],
  ["a secret volume", volume({ secret: { secretName: "x" } }), "Secret"],
  ["a projected configMap", volume({ projected: { sources: [{ configMap: { name: "x" } }] } }), "ConfigMap"],
  [
    "a projected secret",
    volume({ projected: { sources: [{ secret: { name: "x", optional: true } }] } }),
    "Secret",
    "optional",
  ],
  ["csi", volume({ csi: { driver: "d", nodePublishSecretRef: { name: "x" } } }), "Secret"],
  ["azureFile", volume({ azureFile: { secretName: "x", shareName: "s" } }), "Secret"],
  ["cephfs", volume({ cephfs: { monitors: [], secretRef: { name: "x" } } }), "Secret"],
  ["flexVolume", volume({ flexVolume: { driver: "d", secretRef: { name: "x" } } }), "Secret"],
  ["iscsi", volume({ iscsi: { iqn: "i", secretRef: { name: "x" } } }), "Secret"],
  ["rbd", volume({ rbd: { image: "i", secretRef: { name: "x" } } }), "Secret"],
  ["scaleIO", volume({ scaleIO: { gateway: "g", secretRef: { name: "x" } } }), "Secret"],
  ["storageos", volume({ storageos: { secretRef: { name: "x" } } }), "Secret"],
  ["a claim", volume({ persistentVolumeClaim: { claimName: "x" } }), "PersistentVolumeClaim"],
  ["imagePullSecrets", podTemplate({ imagePullSecrets: [{ name: "x" }] }), "Secret", "optional"],
  ["serviceAccountName", podTemplate({ serviceAccountName: "x", serviceAccount: "x" }), "ServiceAccount"],
  ["priorityClassName", podTemplate({ priorityClassName: "x" }), "PriorityClass"],
  ["runtimeClassName", podTemplate({ runtimeClassName: "x" }), "RuntimeClass"],
  ["a resource claim", podTemplate({ resourceClaims: [{ name: "gpu", resourceClaimName: "x" }] }), "ResourceClaim"],
  [
    "a resource claim template",
    podTemplate({ resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "x" }] }),
    "ResourceClaimTemplate",
  ],
];

test.each(PLACES)("%s is a reference", (_, template, kind, optional) => {
  expect(referencesOf(template)).toEqual([{ kind, name: "x", optional: optional !== undefined }]);
});

test.each(PLACES)("%s can be given another name, and nothing else changes", (_, template, kind) => {
  const before = structuredClone(template);
  const renamed = renameReferences(template, (of, name) => (of === kind && name === "x" ? "y" : undefined));
  expect(renamed).toEqual(JSON.parse(JSON.stringify(template).replaceAll('"x"', '"y"')));
  expect(
    renameReferences(renamed, () => "x"),
    "and back",
  ).toEqual(before);
  expect(template, "the template that was given stays as it was").toEqual(before);
});

test("Of several places one that is not optional decides", () => {
  const both = podTemplate({
    containers: [container({ envFrom: [{ configMapRef: { name: "x", optional: true } }] })],
    volumes: [{ name: "v", configMap: { name: "x" } }],
  });
  expect(referencesOf(both)).toEqual([{ kind: "ConfigMap", name: "x", optional: false }]);
});

test("A name of one kind is not that of another", () => {
  const template = podTemplate({
    volumes: [
      { name: "a", configMap: { name: "x" } },
      { name: "b", secret: { secretName: "x" } },
    ],
  });
  const renamed = renameReferences(template, (kind) => (kind === "Secret" ? "y" : undefined));
  expect(referencesOf(renamed).map(({ kind, name }) => `${kind}/${name}`)).toEqual(["ConfigMap/x", "Secret/y"]);
});

test.each([
  ["a plain template", podTemplate({})],
  [
    "empty names",
    podTemplate({ serviceAccountName: "", imagePullSecrets: [{}], volumes: [{ name: "v", configMap: {} }] }),
  ],
  [
    "volumes of other kinds",
    podTemplate({
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "w", downwardAPI: {} },
      ],
    }),
  ],
  ["other sources of env", env({ fieldRef: { fieldPath: "metadata.name" } })],
  [
    "shapes that no API server lets through",
    podTemplate({ volumes: "x", imagePullSecrets: [null, 3], resourceClaims: {} }),
  ],
])("%s has no references", (_, template) => {
  expect(referencesOf(template)).toEqual([]);
});
