/** Every way in which a pod template can refer to a ConfigMap or Secret, in every situation that it can be in. */
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { isNotFound } from "@jobferry/shared/kube/errors.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import { expect, it } from "vitest";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";
import { allowSecrets, copiesOn, onEast, sealed } from "./reference-fleet.ts";

interface Way {
  readonly kind: CopiedKind;
  /** Kubernetes has no such field here. */
  readonly neverOptional?: true;
  /** Pods start without it by themselves. */
  readonly alwaysOptional?: true;
  pod(name: string, optional: boolean): Partial<PodSpec>;
}

const main = { name: "main", image: "none" };
const inMain = (fields: object): Partial<PodSpec> => ({ containers: [{ ...main, ...fields }] });
const volume = (source: object): Partial<PodSpec> => ({ volumes: [{ name: "v", ...source }] });
const key = (ref: string, name: string, optional: boolean) => ({
  env: [{ name: "V", valueFrom: { [ref]: { name, key: "text", optional } } }],
});

const WAYS: Readonly<Record<string, Way>> = {
  "env from a key of a ConfigMap": { kind: "ConfigMap", pod: (name, o) => inMain(key("configMapKeyRef", name, o)) },
  "env from a key of a Secret": { kind: "Secret", pod: (name, o) => inMain(key("secretKeyRef", name, o)) },
  "envFrom a ConfigMap": {
    kind: "ConfigMap",
    pod: (name, optional) => inMain({ envFrom: [{ configMapRef: { name, optional } }] }),
  },
  "envFrom a Secret": {
    kind: "Secret",
    pod: (name, optional) => inMain({ envFrom: [{ secretRef: { name, optional } }] }),
  },
  "a volume of a ConfigMap": {
    kind: "ConfigMap",
    pod: (name, optional) => volume({ configMap: { name, optional, defaultMode: 0o400 } }),
  },
  "a volume of a Secret": {
    kind: "Secret",
    pod: (secretName, optional) => volume({ secret: { secretName, optional, items: [{ key: "text", path: "t" }] } }),
  },
  "a projected ConfigMap": {
    kind: "ConfigMap",
    pod: (name, optional) => volume({ projected: { sources: [{ configMap: { name, optional } }] } }),
  },
  "a projected Secret": {
    kind: "Secret",
    pod: (name, optional) => volume({ projected: { sources: [{ secret: { name, optional } }] } }),
  },
  "a subPath of a ConfigMap": {
    kind: "ConfigMap",
    pod: (name, optional) => ({
      ...inMain({ volumeMounts: [{ name: "v", mountPath: "/etc/text", subPath: "text" }] }),
      ...volume({ configMap: { name, optional } }),
    }),
  },
  "an init container": {
    kind: "ConfigMap",
    pod: (name, o) => ({ ...inMain({}), initContainers: [{ ...main, name: "i", ...key("configMapKeyRef", name, o) }] }),
  },
  "a sidecar": {
    kind: "Secret",
    pod: (name, o) => ({
      ...inMain({}),
      initContainers: [{ ...main, name: "s", restartPolicy: "Always", ...key("secretKeyRef", name, o) }],
    }),
  },
  imagePullSecrets: { kind: "Secret", alwaysOptional: true, pod: (name) => ({ imagePullSecrets: [{ name }] }) },
  "a CSI driver's login": {
    kind: "Secret",
    neverOptional: true,
    pod: (name) => volume({ csi: { driver: "csi.example.com", nodePublishSecretRef: { name } } }),
  },
};

const BYTES = Buffer.from([0, 1, 127, 128, 254, 255]).toString("base64");
const TEXT = "text";

const resourceOf = (kind: CopiedKind) => (kind === "ConfigMap" ? configMaps : secrets);

/** With text and bytes that are not UTF-8. */
function contentsOf(kind: CopiedKind, text: string): object {
  if (kind === "ConfigMap") return { data: { [TEXT]: text }, binaryData: { bytes: BYTES } };
  return { data: { [TEXT]: Buffer.from(text).toString("base64"), bytes: BYTES } };
}

export function referenceWays(fleet: RealFleet): void {
  it.concurrent.each(Object.entries(WAYS))("%s, in every situation", async (title, way) => {
    const at = await fleet.namespace(`way-${Object.keys(WAYS).indexOf(title)}`);
    const { kind, pod } = way;
    const resource = resourceOf(kind);
    const east = fleet.worker("east").api;
    const submit = (name: string, spec: Partial<PodSpec>) =>
      at.submit(name, { ...onEast, labels: sealed, pod: { ...forever, spec } });
    const count = async () => (await copiesOn(at, "east", resource)).length;
    await allowSecrets(fleet, at);

    // Somebody on the worker has one of that name: it stays as it is.
    await east.create(resource, at.mapped, { metadata: { name: "thing" }, ...contentsOf(kind, "the worker's own") });
    await submit("missing", pod("thing", false));
    if (way.alwaysOptional === true) await at.untilActive("missing", 1);
    else
      await at.untilMessage(
        "missing",
        new RegExp(`waiting: ${kind} ${at.name}/thing does not exist on the hub: create it, or set references\\.`),
      );
    if (way.neverOptional !== true) {
      await submit("optional", pod("absent", true));
      await at.untilActive("optional", 1);
      expect(await count(), "nothing to copy").toBe(0);
      await at.delete("optional");
    }

    // Two Jobs share one copy, which the last one takes with it, in whatever order they go.
    await fleet.hub.api.create(resource, at.name, { metadata: { name: "thing" }, ...contentsOf(kind, "the hub's") });
    if (way.alwaysOptional === true) await at.delete("missing");
    for (const order of [
      ["one", "two"],
      ["two", "one"],
    ]) {
      for (const name of ["one", "two"]) await submit(`${order[0]}-${name}`, pod("thing", false));
      for (const name of ["one", "two"]) await at.untilActive(`${order[0]}-${name}`, 1);
      const [copy, ...more] = await copiesOn(at, "east", resource);
      expect(more).toEqual([]);
      expect(copy).toMatchObject({ ...contentsOf(kind, "the hub's"), immutable: true });
      const [first] = await at.pods(`${order[0]}-one`);
      expect(JSON.stringify(first?.pod.spec)).toContain(`"${copy?.metadata.name}"`);
      if (way.alwaysOptional !== true && order[0] === "one") {
        await at.untilActive("missing", 1);
        await at.delete("missing");
        await at.untilGone("missing");
      }
      const [goes = "", stays = ""] = order.map((name) => `${order[0]}-${name}`);
      await at.delete(goes);
      await at.untilGone(goes);
      await at.untilNothingIsLeft(goes);
      expect(await count(), `${stays} still uses it`).toBe(1);
      await at.delete(stays);
      await at.until("no copy is left", async () => (await count()) === 0);
    }
    expect(await theirs(at, kind)).toMatchObject(contentsOf(kind, "the worker's own"));
  });
}

const theirs = async (at: FleetNamespace, kind: CopiedKind) =>
  at.fleet
    .worker("east")
    .api.get(resourceOf(kind), { namespace: at.mapped, name: "thing" })
    .catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
