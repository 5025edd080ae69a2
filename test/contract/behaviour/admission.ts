import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { jobs, namespaces } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { job } from "../objects.ts";
import type { Subject } from "../subject.ts";

const manifest = join(import.meta.dirname, "../../../deploy/hub/admission.yaml");
const LABEL = { "jobferry.dev/dispatch": "enabled" };

const resource = (plural: string, kind: string): Resource => ({
  group: "admissionregistration.k8s.io",
  version: "v1",
  plural,
  kind,
  namespaced: false,
});
const policies = resource("mutatingadmissionpolicies", "MutatingAdmissionPolicy");
const bindings = resource("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding");

/** The policy that deploy/hub ships: the label of a namespace claims its Jobs. */
export function admission(subject: Subject): void {
  const create = (namespace: string, name: string, spec: object = {}, dryRun = false): Promise<Job> =>
    subject.api.create(jobs, namespace, job(name, spec) as Job, { dryRun });

  describe("the admission policy of the hub", () => {
    let labelled: string;
    let plain: string;

    beforeAll(async () => {
      plain = await subject.newNamespace();
      labelled = await subject.newNamespace();
      await subject.api.patch(namespaces, { name: labelled }, { type: "merge", body: { metadata: { labels: LABEL } } });
      const [policy, binding] = parseAllDocuments(await readFile(manifest, "utf8")).map(
        (document) => document.toJS() as KubeObject,
      );
      await subject.api.create(policies, undefined, policy as KubeObject);
      await subject.api.create(bindings, undefined, binding as KubeObject);
      // A real server takes up policies and labels a moment later.
      await vi.waitUntil(async () => (await create(labelled, "probe", {}, true)).spec.managedBy !== undefined, {
        timeout: 60_000,
        interval: 100,
      });
    });

    afterAll(async () => {
      await subject.api.delete(bindings, { name: "jobferry-dispatch" });
      await subject.api.delete(policies, { name: "jobferry-dispatch" });
    });

    it("is stored with the server's defaults", async () => {
      const { metadata, ...policy } = await subject.api.get(policies, { name: "jobferry-dispatch" });
      expect(metadata.generation).toBe(1);
      expect(policy).toMatchObject({
        spec: {
          failurePolicy: "Fail",
          reinvocationPolicy: "Never",
          matchConstraints: {
            matchPolicy: "Equivalent",
            namespaceSelector: { matchLabels: LABEL },
            objectSelector: {},
            resourceRules: [{ resources: ["jobs"], operations: ["CREATE"], scope: "*" }],
          },
        },
      });
    });

    it("hands a Job of a labelled namespace to Jobferry", async () => {
      expect((await create(labelled, "claimed")).spec.managedBy).toBe(HUB_MANAGED_BY);
    });

    it("hands over a Job that is created by server-side apply, too", async () => {
      const body = job("applied");
      const patch = { type: "apply", body, fieldManager: "contract", force: true } as const;
      const applied = await subject.api.patch(jobs, { namespace: labelled, name: "applied" }, patch);
      expect(applied.spec.managedBy).toBe(HUB_MANAGED_BY);
    });

    it("leaves a Job that names its own controller to it", async () => {
      const managedBy = "example.com/other";
      expect((await create(labelled, "owned", { managedBy })).spec.managedBy).toBe(managedBy);
    });

    it("leaves the Jobs of other namespaces alone", async () => {
      expect((await create(plain, "unclaimed")).spec.managedBy).toBeUndefined();
    });
  });
}
