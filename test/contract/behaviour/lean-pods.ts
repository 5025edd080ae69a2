import { podRequests } from "@jobferry/shared/job/requests.ts";
import type { OwnerReference, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource, WatchEvent } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { trimPod } from "@jobferry/worker-agent/job-controller/pod-cache.ts";
import { leanPods } from "@jobferry/worker-agent/lean-pods.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { pod } from "../objects.ts";
import { configMapResource } from "../resources.ts";
import type { Subject } from "../subject.ts";

/** All that the agent's caches take from a pod; JSON shows an unset time as null. */
function taken(whole: Pod): unknown {
  const seen = { ...trimPod(whole), requests: [...podRequests(whole.spec)] };
  return JSON.parse(JSON.stringify(seen, (_, value: unknown) => (value === null ? undefined : value)));
}

const ended = { startedAt: "2026-03-01T10:00:00Z", finishedAt: "2026-03-01T10:00:07Z", containerID: "cri://1" };

/** With every field that is read, and beside them much that is skipped. */
const rich = pod(
  "rich",
  {
    initContainers: [
      { name: "prepare", image: "busybox", resources: { requests: { cpu: "1500m" } } },
      { name: "proxy", image: "busybox", restartPolicy: "Always", resources: { limits: { memory: "64Mi" } } },
    ],
    containers: [
      {
        name: "main",
        image: "busybox",
        env: [{ name: "GREETING", value: "grüß dich" }],
        resources: { requests: { cpu: "0.25", memory: "1Gi" }, limits: { memory: "2Gi", "example.com/gpu": "2" } },
      },
      { name: "empty", image: "busybox" },
    ],
    volumes: [{ name: "scratch", emptyDir: {} }],
    nodeSelector: { disk: "ssd" },
    resources: { requests: { memory: "3Gi" }, limits: { memory: "4Gi" } },
  },
  {
    labels: { app: "some", empty: "" },
    annotations: { "example.com/note": `größer als 128 Zeichen: ${"日本語 ".repeat(40)}`, "example.com/empty": "" },
    finalizers: ["example.com/first", "example.com/second"],
  },
);

const status = {
  phase: "Failed",
  reason: "Evicted",
  message: "the node was low on resource",
  startTime: "2026-03-01T09:59:59Z",
  conditions: [
    { type: "Ready", status: "False", lastTransitionTime: "2026-03-01T10:00:08Z", reason: "PodFailed" },
    { type: "DisruptionTarget", status: "True", message: "évincé", lastTransitionTime: "2026-03-01T10:00:08Z" },
  ],
  initContainerStatuses: [
    {
      name: "prepare",
      ready: true,
      restartCount: 2,
      image: "",
      imageID: "",
      state: { terminated: { exitCode: 0, ...ended } },
    },
  ],
  containerStatuses: [
    {
      name: "main",
      ready: false,
      restartCount: 0,
      image: "busybox",
      imageID: "",
      state: { terminated: { exitCode: -1, signal: 9, reason: "Error", message: "no", ...ended } },
      lastState: { terminated: { exitCode: 3, ...ended } },
    },
    { name: "empty", ready: false, restartCount: 130, image: "", imageID: "", state: { waiting: { reason: "Later" } } },
  ],
};

/** The caches of the agent read pods as protobuf where the server speaks it: it must make no difference. */
export function leanPodsAreTheSame(subject: Subject): void {
  describe("pods read as the agent's caches read them", () => {
    let namespace: string;
    const both = <R>(call: (resource: Resource<Pod>) => Promise<R>): Promise<[R, R]> =>
      Promise.all([call(leanPods), call(pods)]);
    const failure = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => "it succeeded",
        (error: unknown) => (error instanceof ApiError ? { ...error, message: error.message } : error),
      );

    /** Owners that are not there would be noticed by the garbage collector while we look. */
    async function ownedBy(name: string, reference: Partial<OwnerReference>): Promise<OwnerReference> {
      const { metadata } = await subject.api.create(configMapResource, namespace, { metadata: { name } });
      return { apiVersion: "v1", kind: "ConfigMap", name, uid: metadata.uid ?? "", ...reference };
    }

    beforeAll(async () => {
      namespace = await subject.newNamespace();
      await subject.api.create(pods, namespace, pod("plain") as Pod);
      const ownerReferences = [
        await ownedBy("parent", { controller: true }),
        await ownedBy("other", { blockOwnerDeletion: false }),
      ];
      await subject.api.create(leanPods, namespace, {
        ...rich,
        metadata: { ...rich.metadata, ownerReferences },
      } as Pod);
      const patch = { type: "merge" as const, body: { status } };
      await subject.api.patch(leanPods, { namespace, name: "rich" }, patch, { subresource: "status" });
    });

    it.each(["plain", "rich"])("show of the %s one what JSON shows", async (name) => {
      const [lean, whole] = await both((resource) => subject.api.get(resource, { namespace, name }));
      expect(taken(lean)).toEqual(taken(whole));
      expect(lean).toMatchObject({ kind: "Pod", apiVersion: "v1", metadata: { name, namespace } });
      // The sandbox knows only JSON, and that shows.
      expect(lean.spec.containers[0]?.image).toBe(subject.kind === "real" ? undefined : "busybox");
    });

    it("are all there, page by page", async () => {
      const [lean, whole] = await both((resource) => subject.api.list(resource, { namespace, limit: 1 }));
      expect(lean.items.map(taken)).toEqual(whole.items.map(taken));
      expect(lean.metadata.remainingItemCount).toBe(1);
      const [rest] = await both((resource) =>
        subject.api.list(resource, { namespace, limit: 1, continue: lean.metadata.continue ?? "" }),
      );
      expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(["rich"]);
      expect(rest.metadata).toMatchObject({ resourceVersion: lean.metadata.resourceVersion });
      expect((await subject.api.list(leanPods, { namespace: "nowhere" })).items).toEqual([]);
    });

    it("change in a watch as they do in JSON", async () => {
      const other = await subject.newNamespace();
      const { resourceVersion } = (await subject.api.list(pods, { namespace: other })).metadata;
      const key = { namespace: other, name: "watched" };
      await subject.api.create(leanPods, other, pod("watched") as Pod);
      const labels = { type: "merge" as const, body: { metadata: { labels: { seen: "yes" } } } };
      const patched = await subject.api.patch(leanPods, key, labels);
      expect(patched.metadata.labels).toEqual({ seen: "yes" });
      expect(await subject.api.delete(leanPods, key, { gracePeriodSeconds: 0 })).toBeUndefined();
      const [lean, whole] = await both((resource) =>
        eventsOf(subject, resource, { namespace: other, resourceVersion }),
      );
      expect(lean.map(({ type }) => type)).toEqual(["ADDED", "MODIFIED", "MODIFIED", "DELETED"]);
      expect(lean).toEqual(whole);
    });

    it("fail with the same errors", async () => {
      const calls: ((resource: Resource<Pod>) => Promise<unknown>)[] = [
        (resource) => subject.api.get(resource, { namespace, name: "missing" }),
        (resource) => subject.api.create(resource, namespace, pod("plain") as Pod),
        (resource) => subject.api.create(resource, namespace, pod("-bad-", { restartPolicy: "Never or so" }) as Pod),
        (resource) => subject.api.create(resource, "nowhere", pod("plain") as Pod),
        (resource) =>
          subject.api.patch(resource, { namespace, name: "plain" }, { type: "merge", body: { spec: { nodeName: 3 } } }),
      ];
      for (const call of calls) {
        const [lean, whole] = await both((resource) => failure(call(resource)));
        expect(lean).toMatchObject({ code: expect.toSatisfy((code: number) => code >= 400 && code < 500) });
        expect(lean).toEqual(whole);
      }
    });
  });
}

/** Until the first deletion. */
async function eventsOf(
  subject: Subject,
  resource: Resource<Pod>,
  from: { namespace: string; resourceVersion: string },
): Promise<{ type: string; object: unknown }[]> {
  const found: { type: string; object: unknown }[] = [];
  const isPod = <T extends KubeObject>(event: WatchEvent<T>): event is WatchEvent<T> & { type: "ADDED" } =>
    ["ADDED", "MODIFIED", "DELETED"].includes(event.type);
  for await (const batch of subject.api.watch(resource, { ...from, timeoutSeconds: 60 })) {
    for (const event of batch) if (isPod(event)) found.push({ type: event.type, object: taken(event.object) });
    if (found.at(-1)?.type === "DELETED") break;
  }
  return found;
}
