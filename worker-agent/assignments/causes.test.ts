import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { ACCEPT_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { Presence } from "../references/presence.ts";
import { Causes } from "./causes.ts";
import type { Refusal } from "./refusal.ts";

const mirror = (over: object = {}): Job => ({
  metadata: { namespace: "team", name: "j", labels: { uid: "u" } },
  spec: {
    managedBy: "us",
    template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }], ...over } },
  },
});

function rig() {
  const stored = new Map<string, KubeObject>();
  const created: { plural: string; object: KubeObject; dryRun: boolean | undefined }[] = [];
  let refusal: ApiError | undefined;
  const api = {
    async get(resource, { namespace, name }) {
      const found = stored.get(`${resource.plural}/${namespace ?? ""}/${name}`);
      if (found !== undefined) return found as never;
      throw new ApiError(404, "NotFound", "not found", { status: { details: { name } } as never });
    },
    async create(resource, _, object, options) {
      created.push({ plural: resource.plural, object, dryRun: options?.dryRun });
      if (refusal !== undefined) throw refusal;
      return object;
    },
  } as Pick<KubeApi, "get" | "create">;
  const refuse = (error: ApiError | undefined): void => {
    refusal = error;
  };
  return { stored, created, refuse, causes: new Causes({ api, presence: new Presence(api) }) };
}

const refused = (reason: Refusal["reason"], more: Partial<Refusal> = {}): Refusal => ({ reason, message: "", ...more });
const QUOTA = new ApiError(403, "Forbidden", "exceeded quota");

it("a name that is taken is mended when it is free", async () => {
  const { causes, stored } = rig();
  stored.set("jobs/team/j", { metadata: { name: "j" } });
  const [cause] = causes.ofMirror(refused("NameTaken"), mirror());
  expect(await cause?.isMended()).toBe(false);
  stored.clear();
  expect(await cause?.isMended()).toBe(true);
});

it.each(["QuotaExceeded", "AdmissionDenied", "NamespaceTerminating", "Other"] as const)(
  "%s is mended when a try that leaves nothing behind goes through",
  async (reason) => {
    const { causes, created, refuse } = rig();
    const [cause] = causes.ofMirror(refused(reason), mirror());
    refuse(QUOTA);
    expect(await cause?.isMended()).toBe(false);
    refuse(undefined);
    expect(await cause?.isMended()).toBe(true);
    expect(created).toMatchObject([
      { plural: "jobs", dryRun: true },
      { plural: "jobs", dryRun: true },
    ]);
  },
);

it("pods that were refused are tried as the Job controller would create them", async () => {
  const { causes, created } = rig();
  const [cause] = causes.ofPods(refused("QuotaExceeded"), mirror());
  expect(await cause?.isMended()).toBe(true);
  expect(created).toMatchObject([
    { plural: "pods", dryRun: true, object: { metadata: { generateName: "j-" }, spec: { restartPolicy: "Never" } } },
  ]);
});

it("a namespace that takes no Jobs is mended by its label", async () => {
  const { causes, stored } = rig();
  const namespace = { metadata: { name: "team", labels: {} as Record<string, string> } };
  stored.set("namespaces//team", namespace);
  const unlabelled = { kind: "Namespace", name: "team" } as const;
  const [cause] = causes.ofMirror(refused("NamespaceNotAccepted", { unlabelled }), mirror());
  expect(await cause?.isMended()).toBe(false);
  namespace.metadata.labels[ACCEPT_LABEL] = "enabled";
  expect(await cause?.isMended()).toBe(true);
});

it("what is missing is mended object by object, and is one cause for all Jobs that lack it", async () => {
  const { causes, stored } = rig();
  const missing = [{ kind: "Secret", namespace: "team", name: "login" }] as const;
  const [one] = causes.ofMirror(refused("ReferenceMissing", { missing }), mirror());
  const [other] = causes.ofMirror(refused("ReferenceMissing", { missing }), mirror({ hostname: "other" }));
  expect(one?.name).toBe(other?.name);
  expect(await one?.isMended()).toBe(false);
  stored.set("secrets/team/login", { metadata: { name: "login" } });
  expect(await one?.isMended()).toBe(true);
});

it.each(["Invalid", "PodNotAccepted", "SchedulingUnsupported", "ReferenceNotAccepted"] as const)(
  "%s has no cause that anybody could mend here",
  (reason) => expect(rig().causes.ofMirror(refused(reason), mirror())).toEqual([]),
);

it("a large Job is not kept for tries", () => {
  const env = [{ name: "E", value: "x".repeat(70_000) }];
  const large = mirror({ containers: [{ name: "c", image: "i", env }] });
  expect(rig().causes.ofMirror(refused("QuotaExceeded"), large)).toEqual([]);
});
