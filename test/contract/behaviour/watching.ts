import type { KubeObject, Resource, WatchEvent, WatchOptions } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configMap, pod } from "../objects.ts";
import { configMapResource as maps } from "../resources.ts";
import type { Subject } from "../subject.ts";

const patienceMs = 15_000;

export function watching(subject: Subject): void {
  /** The next `count` events, or all until the server ends the stream. */
  async function take<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    count = Number.POSITIVE_INFINITY,
  ): Promise<WatchEvent<T>[]> {
    const events: WatchEvent<T>[] = [];
    const signal = AbortSignal.timeout(patienceMs);
    for await (const batch of subject.api.watch(resource, { ...options, signal })) {
      events.push(...batch);
      if (events.length >= count) break;
    }
    return events.slice(0, count);
  }

  const brief = (events: WatchEvent<KubeObject>[]): string[] =>
    events.map((event) =>
      event.type === "BOOKMARK" || event.type === "ERROR"
        ? event.type
        : `${event.type} ${event.object.metadata.name ?? ""}`,
    );

  describe("watches", () => {
    let namespace: string;
    let resourceVersion: string;
    beforeEach(async () => {
      namespace = await subject.newNamespace();
      resourceVersion = (await subject.api.list(maps, { namespace })).metadata.resourceVersion;
    });
    const create = (name: string, labels: Record<string, string> = {}) =>
      subject.api.create(maps, namespace, { ...configMap(name), metadata: { name, labels } });
    const patch = (name: string, body: object) => subject.api.patch(maps, { namespace, name }, { type: "merge", body });

    it("tell of every change after the version they start from, in order", async () => {
      const created = await create("one");
      const changed = await patch("one", { data: { colour: "red" } });
      await subject.api.delete(maps, { namespace, name: "one" });
      const events = await take(maps, { namespace, resourceVersion }, 3);
      expect(brief(events)).toEqual(["ADDED one", "MODIFIED one", "DELETED one"]);
      const [added, modified, deleted] = events;
      expect(added?.object).toEqual({ ...created, apiVersion: "v1", kind: "ConfigMap" });
      expect(modified?.object).toMatchObject({ data: { colour: "red" } });
      expect(modified?.object.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
      expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(
        Number(changed.metadata.resourceVersion),
      );
      expect(deleted?.object).toMatchObject({ data: { colour: "red" } });
    });

    it("tell of changes that happen while they run", async () => {
      const seen = take(maps, { namespace, resourceVersion }, 2);
      await create("one");
      await create("two");
      expect(brief(await seen)).toEqual(["ADDED one", "ADDED two"]);
    });

    it("start with what is there when they name version 0", async () => {
      await create("one");
      await create("two");
      const events = await take(maps, { namespace, resourceVersion: "0" }, 2);
      expect(brief(events).sort()).toEqual(["ADDED one", "ADDED two"]);
    });

    if (subject.speaksHttp)
      it("list first and mark the end of it when asked to", async () => {
        await create("one");
        await create("two");
        const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        const path = `/api/v1/namespaces/${namespace}/configmaps?${query}&timeoutSeconds=1`;
        const { text } = await subject.cluster.request(path);
        const events = text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as WatchEvent<KubeObject>);
        expect(brief(events)).toEqual(["ADDED one", "ADDED two", "BOOKMARK"]);
        expect(events[2]?.object.metadata).toMatchObject({ annotations: { "k8s.io/initial-events-end": "true" } });
      });

    it("say nothing of other namespaces, of dry runs, or of writes that change nothing", async () => {
      const other = await subject.newNamespace();
      await subject.api.create(maps, other, configMap("elsewhere"));
      await subject.api.create(maps, namespace, configMap("dry"), { dryRun: true });
      const one = await create("one");
      await subject.api.replace(maps, { namespace, name: "one" }, one);
      await create("two");
      expect(brief(await take(maps, { namespace, resourceVersion }, 2))).toEqual(["ADDED one", "ADDED two"]);
    });

    it("show objects that come to match a selector as added, and those that stop matching as deleted", async () => {
      await create("one", { stage: "draft" });
      await patch("one", { metadata: { labels: { stage: "live" } } });
      await patch("one", { data: { colour: "red" } });
      const last = await patch("one", { metadata: { labels: { stage: "old" } } });
      await create("end", { stage: "live" });
      const events = await take(maps, { namespace, resourceVersion, labelSelector: "stage=live" }, 4);
      expect(brief(events)).toEqual(["ADDED one", "MODIFIED one", "DELETED one", "ADDED end"]);
      expect(events[2]?.object.metadata.resourceVersion).toBe(last.metadata.resourceVersion);
      expect(events[2]?.object).toMatchObject({ metadata: { labels: { stage: "live" } } });
    });

    it("follow one object by name", async () => {
      await create("other");
      await create("one");
      const events = await take(maps, { namespace, resourceVersion, fieldSelector: "metadata.name=one" }, 1);
      expect(brief(events)).toEqual(["ADDED one"]);
    });

    it("follow a status field", async () => {
      await subject.api.create(pods, namespace, pod("one"));
      const run = { type: "merge" as const, body: { status: { phase: "Running" } } };
      await subject.api.patch(pods, { namespace, name: "one" }, run, { subresource: "status" });
      const events = await take(pods, { namespace, resourceVersion, fieldSelector: "status.phase=Running" }, 1);
      expect(brief(events)).toEqual(["ADDED one"]);
    });

    it("show a held object's deletion as a change, and its end when it is let go", async () => {
      await subject.api.create(maps, namespace, {
        ...configMap("held"),
        metadata: { name: "held", finalizers: ["ex.org/hold"] },
      });
      const marked = await subject.api.delete(maps, { namespace, name: "held" });
      expect(marked?.metadata.deletionTimestamp).toBeDefined();
      await patch("held", { metadata: { finalizers: null } });
      const events = await take(maps, { namespace, resourceVersion }, 3);
      expect(brief(events)).toEqual(["ADDED held", "MODIFIED held", "DELETED held"]);
      expect(events[1]?.object).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
      // Its last state before the write that let it go.
      expect(events[2]?.object).toMatchObject({ metadata: { finalizers: ["ex.org/hold"] } });
    });

    it("show a pod's grace period as a change", async () => {
      await subject.api.create(pods, namespace, pod("bound", { nodeName: "nowhere" }));
      await subject.api.delete(pods, { namespace, name: "bound" }, { gracePeriodSeconds: 7 });
      await subject.api.delete(pods, { namespace, name: "bound" }, { gracePeriodSeconds: 0 });
      const events = await take(pods, { namespace, resourceVersion }, 4);
      expect(brief(events)).toEqual(["ADDED bound", "MODIFIED bound", "MODIFIED bound", "DELETED bound"]);
      const grace = events.slice(1).map((event) => (event.object as KubeObject).metadata.deletionGracePeriodSeconds);
      expect(grace).toEqual([7, 0, 0]);
    });

    it("end at their time, without a bookmark that nobody asked for", async () => {
      await create("one");
      expect(brief(await take(maps, { namespace, resourceVersion, timeoutSeconds: 2 }))).toEqual(["ADDED one"]);
    });

    it("serve many watchers the same events", async () => {
      const watchers = Array.from({ length: 10 }, () => take(maps, { namespace, resourceVersion }, 5));
      for (const name of ["a", "b", "c", "d", "e"]) await create(name);
      for (const events of await Promise.all(watchers))
        expect(brief(events)).toEqual(["ADDED a", "ADDED b", "ADDED c", "ADDED d", "ADDED e"]);
    });
  });
}

/** Starts before any test and is read last: a real API server sends no bookmark in the first seconds. */
export function bookmarks(subject: Subject): { check(): void } {
  const types = new Set<string>();
  let over: Promise<void> | undefined;
  const collect = async (): Promise<void> => {
    const options = { resourceVersion: "0", allowWatchBookmarks: true, timeoutSeconds: 20 };
    for await (const batch of subject.api.watch(maps, options)) for (const { type } of batch) types.add(type);
  };
  beforeAll(() => {
    over = collect();
    over.catch(() => {});
  });
  return {
    check: () =>
      describe("bookmarks", () => {
        it("come at the latest before a watch ends", async () => {
          await over;
          expect([...types]).toContain("BOOKMARK");
        });
      }),
  };
}

/** Comes last: a real API server has to be restarted to forget. */
export function expiry(subject: Subject): void {
  describe("expiry", () => {
    it("refuses to watch from a version that is forgotten, with 410", async () => {
      await subject.forgetHistory();
      const { status, reason } = await refusal(subject.api.watch(maps, { resourceVersion: "1" }));
      expect([status, reason]).toEqual([410, "Expired"]);
    });
  });
}

/** How a watch is refused: as an error of the call, or as its first event. */
async function refusal(watch: AsyncIterable<WatchEvent<KubeObject>[]>): Promise<{ status?: number; reason?: string }> {
  try {
    for await (const [event] of watch)
      if (event?.type === "ERROR") return { status: event.object.code ?? 0, reason: event.object.reason ?? "" };
      else return {};
  } catch (error) {
    if (error instanceof ApiError) return { status: error.code, reason: error.reason };
    throw error;
  }
  return {};
}
