import type { KubeList, KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { events, jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { configMap, job, pod } from "../objects.ts";
import { configMapResource as maps } from "../resources.ts";
import type { Subject } from "../subject.ts";

const names = (list: KubeList<KubeObject>): (string | undefined)[] => list.items.map((item) => item.metadata.name);

export function listing(subject: Subject): void {
  describe("lists", () => {
    describe("in pages", () => {
      let namespace: string;
      beforeAll(async () => {
        namespace = await subject.newNamespace();
        for (const name of ["e", "b", "g", "a", "d", "c", "f"])
          await subject.api.create(maps, namespace, { ...configMap(name), metadata: { name, labels: { all: "yes" } } });
      });

      it("are sorted by name and carry a version that no object is newer than", async () => {
        const list = await subject.api.list(maps, { namespace });
        expect(names(list)).toEqual(["a", "b", "c", "d", "e", "f", "g"]);
        const newest = Math.max(...list.items.map((item) => Number(item.metadata.resourceVersion)));
        expect(Number(list.metadata.resourceVersion)).toBeGreaterThanOrEqual(newest);
      });

      it("are sorted by namespace first across all", async () => {
        const other = await subject.newNamespace();
        await subject.api.create(maps, other, configMap("a-first"));
        const list = await subject.api.list(maps, { labelSelector: "" });
        const keys = list.items.map((item) => `${item.metadata.namespace}/${item.metadata.name}`);
        expect(keys).toEqual([...keys].sort());
        expect(keys).toContain(`${other}/a-first`);
      });

      it("show one moment, whatever happens between the pages", async () => {
        const first = await subject.api.list(maps, { namespace, limit: 3 });
        expect(names(first)).toEqual(["a", "b", "c"]);
        expect(first.metadata.remainingItemCount).toBe(4);
        await subject.api.create(maps, namespace, configMap("dd"));
        await subject.api.delete(maps, { namespace, name: "e" });
        const second = await subject.api.list(maps, { namespace, limit: 3, continue: first.metadata.continue ?? "" });
        expect(names(second)).toEqual(["d", "e", "f"]);
        expect(second.metadata.remainingItemCount).toBe(1);
        const third = await subject.api.list(maps, { namespace, limit: 3, continue: second.metadata.continue ?? "" });
        expect(names(third)).toEqual(["g"]);
        expect([third.metadata.continue ?? "", third.metadata.remainingItemCount]).toEqual(["", undefined]);
        const versions = [first, second, third].map((page) => page.metadata.resourceVersion);
        expect(new Set(versions).size).toBe(1);
        expect(names(await subject.api.list(maps, { namespace }))).toEqual(["a", "b", "c", "d", "dd", "f", "g"]);
      });

      it("do not count what is left when a selector hides some", async () => {
        const page = await subject.api.list(maps, { namespace, limit: 2, labelSelector: "all=yes" });
        expect(page.metadata.remainingItemCount).toBeUndefined();
        expect(page.metadata.continue).toBeDefined();
      });

      it("go back to an exact version", async () => {
        const before = await subject.api.list(maps, { namespace });
        await subject.api.create(maps, namespace, configMap("late"));
        const { resourceVersion } = before.metadata;
        const then = await subject.api.list(maps, { namespace, resourceVersion, resourceVersionMatch: "Exact" });
        expect(names(then)).toEqual(names(before));
        const now = await subject.api.list(maps, { namespace, resourceVersion, resourceVersionMatch: "NotOlderThan" });
        expect(names(now)).toContain("late");
        expect(names(await subject.api.list(maps, { namespace, resourceVersion: "0" }))).toContain("late");
      });
    });

    describe("by label", () => {
      let namespace: string;
      beforeAll(async () => {
        namespace = await subject.newNamespace();
        const labels: Record<string, Record<string, string>> = {
          blue: { colour: "blue", "ex.org/size": "1" },
          none: {},
          red: { colour: "red" },
          empty: { colour: "" },
        };
        for (const [name, own] of Object.entries(labels))
          await subject.api.create(maps, namespace, { ...configMap(name), metadata: { name, labels: own } });
      });

      it.each([
        ["colour=blue", ["blue"]],
        ["colour==blue", ["blue"]],
        ["colour!=blue", ["empty", "none", "red"]],
        ["colour", ["blue", "empty", "red"]],
        ["!colour", ["none"]],
        ["colour in (blue,red)", ["blue", "red"]],
        ["colour in (blue, ,)", ["blue", "empty"]],
        ["colour notin (blue)", ["empty", "none", "red"]],
        ["colour=", ["empty"]],
        ["colour,ex.org/size", ["blue"]],
        ["colour in (blue), ex.org/size notin (2)", ["blue"]],
        ["ex.org/size>0", ["blue"]],
        ["ex.org/size<1", []],
        ["", ["blue", "empty", "none", "red"]],
      ])("%s", async (labelSelector, expected) => {
        expect(names(await subject.api.list(maps, { namespace, labelSelector }))).toEqual(expected);
      });
    });

    describe("by field", () => {
      let namespace: string;
      beforeAll(async () => {
        namespace = await subject.newNamespace();
        const { api } = subject;
        await api.create(maps, namespace, configMap("a"));
        await api.create(maps, namespace, configMap("b"));
        await api.create(pods, namespace, pod("free"));
        await api.create(pods, namespace, pod("bound", { nodeName: "n1" }));
        const running = { type: "merge" as const, body: { status: { phase: "Running" } } };
        await api.patch(pods, { namespace, name: "bound" }, running, { subresource: "status" });
        await api.create(jobs, namespace, job("done"));
        await api.create(jobs, namespace, job("open"));
        const done = {
          startTime: "2026-01-01T00:00:00Z",
          succeeded: 1,
          completionTime: "2026-01-01T00:01:00Z",
          conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" })),
        };
        const finish = { type: "merge" as const, body: { status: done } };
        await api.patch(jobs, { namespace, name: "done" }, finish, { subresource: "status" });
        const about = (name: string, type: string) => ({
          metadata: { name },
          involvedObject: { kind: "Job", namespace, name },
          reason: "Test",
          type,
        });
        await api.create(events, namespace, about("open", "Warning"));
        await api.create(events, namespace, about("done", "Normal"));
      });

      it.each<[Resource, string, string[]]>([
        [maps, "metadata.name=a", ["a"]],
        [maps, "metadata.name!=a", ["b"]],
        [maps, "metadata.name=a,metadata.name=b", []],
        [pods, "status.phase=Running", ["bound"]],
        [pods, "status.phase!=Running", ["free"]],
        [pods, "spec.nodeName=", ["free"]],
        [pods, "spec.nodeName=n1,status.phase=Running", ["bound"]],
        [jobs, "status.successful=1", ["done"]],
        [events, "involvedObject.name=open,involvedObject.kind=Job", ["open"]],
        [events, "type!=Normal,reason=Test", ["open"]],
      ])("%# %s %s", async (resource, fieldSelector, expected) => {
        expect(names(await subject.api.list(resource, { namespace, fieldSelector }))).toEqual(expected);
      });
    });
  });
}
