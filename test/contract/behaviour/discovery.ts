import { describe, expect, it } from "vitest";
import type { Subject } from "../subject.ts";

interface ApiResource {
  name: string;
  singularName: string;
  namespaced: boolean;
  kind: string;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
}

const all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const statusVerbs = ["get", "patch", "update"];

/** What the sandbox offers; a real server has this and more. */
const offered: Record<string, ApiResource[]> = {
  "/api/v1": [
    {
      name: "configmaps",
      singularName: "configmap",
      namespaced: true,
      kind: "ConfigMap",
      verbs: all,
      shortNames: ["cm"],
    },
    { name: "events", singularName: "event", namespaced: true, kind: "Event", verbs: all, shortNames: ["ev"] },
    {
      name: "namespaces",
      singularName: "namespace",
      namespaced: false,
      kind: "Namespace",
      verbs: all.filter((verb) => verb !== "deletecollection"),
      shortNames: ["ns"],
    },
    { name: "namespaces/status", singularName: "", namespaced: false, kind: "Namespace", verbs: statusVerbs },
    { name: "nodes", singularName: "node", namespaced: false, kind: "Node", verbs: all, shortNames: ["no"] },
    { name: "nodes/status", singularName: "", namespaced: false, kind: "Node", verbs: statusVerbs },
    {
      name: "pods",
      singularName: "pod",
      namespaced: true,
      kind: "Pod",
      verbs: all,
      shortNames: ["po"],
      categories: ["all"],
    },
    { name: "pods/log", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
    { name: "pods/status", singularName: "", namespaced: true, kind: "Pod", verbs: statusVerbs },
    { name: "secrets", singularName: "secret", namespaced: true, kind: "Secret", verbs: all },
  ],
  "/apis/batch/v1": [
    {
      name: "cronjobs",
      singularName: "cronjob",
      namespaced: true,
      kind: "CronJob",
      verbs: all,
      shortNames: ["cj"],
      categories: ["all"],
    },
    { name: "cronjobs/status", singularName: "", namespaced: true, kind: "CronJob", verbs: statusVerbs },
    { name: "jobs", singularName: "job", namespaced: true, kind: "Job", verbs: all, categories: ["all"] },
    { name: "jobs/status", singularName: "", namespaced: true, kind: "Job", verbs: statusVerbs },
  ],
  "/apis/coordination.k8s.io/v1": [
    { name: "leases", singularName: "lease", namespaced: true, kind: "Lease", verbs: all },
  ],
};

export function discovery(subject: Subject): void {
  const get = async (path: string, accept = "application/json"): Promise<unknown> => {
    const { status, json } = await subject.cluster.request(path, { headers: { accept } });
    expect(status).toBe(200);
    return json;
  };

  describe("discovery", () => {
    it.each(Object.keys(offered))("%s", async (path) => {
      const found = (await get(path)) as { kind: string; groupVersion: string; resources: ApiResource[] };
      expect(found).toMatchObject({ kind: "APIResourceList", groupVersion: path.replace(/^\/apis?\//, "") });
      for (const wanted of offered[path] ?? []) {
        const { storageVersionHash: _, ...resource } = (found.resources.find(({ name }) => name === wanted.name) ??
          {}) as ApiResource & { storageVersionHash?: string };
        expect(resource).toEqual(wanted);
      }
    });

    it("lists the versions of the core group", async () => {
      expect(await get("/api")).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    });

    it("lists the groups", async () => {
      const { groups } = (await get("/apis")) as { groups: { name: string; preferredVersion: unknown }[] };
      expect(groups).toContainEqual({
        name: "batch",
        versions: [{ groupVersion: "batch/v1", version: "v1" }],
        preferredVersion: { groupVersion: "batch/v1", version: "v1" },
      });
      expect(await get("/apis/batch")).toMatchObject({ kind: "APIGroup", name: "batch" });
    });

    it("tells all at once in the form kubectl asks for", async () => {
      const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
      const found = (await get("/apis", accept)) as {
        kind: string;
        items: { metadata: { name: string }; versions: { version: string; resources: { resource: string }[] }[] }[];
      };
      expect(found.kind).toBe("APIGroupDiscoveryList");
      const batch = found.items.find(({ metadata }) => metadata.name === "batch");
      expect(batch?.versions[0]?.resources.map(({ resource }) => resource).sort()).toEqual(["cronjobs", "jobs"]);
    });

    it("tells its version", async () => {
      expect(await get("/version")).toMatchObject({
        major: "1",
        minor: "36",
        gitVersion: expect.stringMatching(/^v1\.36\./),
      });
    });

    it.each(["/healthz", "/livez", "/readyz"])("says ok at %s", async (path) => {
      expect(await subject.cluster.request(path)).toMatchObject({ status: 200, text: "ok" });
    });
  });
}
