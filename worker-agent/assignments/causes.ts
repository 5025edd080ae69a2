import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { isForbidden, isNotFound } from "@jobferry/shared/kube/errors.ts";
import { jobs, pods } from "@jobferry/shared/kube/resources.ts";
import { ACCEPT_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { RefusalReason } from "@jobferry/shared/protocol/report.ts";
import { type Needed, nameOf, type Presence } from "../references/presence.ts";
import type { Refusal } from "./refusal.ts";

/** What keeps a Job away from this cluster, for as long as it does. */
export interface Cause {
  /** What has the same name is the same for every Job. */
  readonly name: string;
  isMended(): Promise<boolean>;
}

export interface CausesOptions {
  api: Pick<KubeApi, "get" | "create">;
  presence: Pick<Presence, "isMissing" | "labelsOf">;
}

/** What only another try can tell of. */
const TRIED: ReadonlySet<RefusalReason> = new Set([
  "QuotaExceeded",
  "AdmissionDenied",
  "NamespaceTerminating",
  "ManagedByUnsupported",
  "Other",
]);
/** A try needs the whole Job, which is kept for it. One that is larger waits for the manager's pause to end. */
const MAX_KEPT_CHARS = 64 * 1024;

/** What to look at until a refusal does not hold any more; nothing where only a change of the Job or of the agent helps. */
export class Causes {
  readonly #options: CausesOptions;

  constructor(options: CausesOptions) {
    this.#options = options;
  }

  /** Of a mirror that could not be created. */
  ofMirror(refusal: Refusal, mirror: Job): Cause[] {
    if (refusal.reason === "NameTaken") return [this.#nameTaken(mirror)];
    return this.#of(refusal, mirror, "Job", async () => {
      const { spec } = await this.#options.api.create(jobs, mirror.metadata.namespace, mirror, { dryRun: true });
      return spec.managedBy === mirror.spec.managedBy;
    });
  }

  /** Of a mirror whose pods could not be created. */
  ofPods(refusal: Refusal, mirror: Job): Cause[] {
    return this.#of(refusal, mirror, "pods of Job", async () => {
      await this.#options.api.create(pods, mirror.metadata.namespace, podOf(mirror), { dryRun: true });
      return true;
    });
  }

  #of(refusal: Refusal, mirror: Job, what: string, attempt: () => Promise<boolean>): Cause[] {
    const { missing = [], unlabelled, reason } = refusal;
    if (missing.length > 0) return missing.map((object) => this.#missing(object));
    if (unlabelled !== undefined) return [this.#unlabelled(unlabelled)];
    if (!TRIED.has(reason) || JSON.stringify(mirror).length > MAX_KEPT_CHARS) return [];
    const { namespace, name, labels } = mirror.metadata;
    // A try that fails for whichever reason: the Job is not wanted here yet.
    const isMended = (): Promise<boolean> => attempt().catch(() => false);
    return [{ name: `${what} ${namespace}/${name} ${JSON.stringify(labels)}`, isMended }];
  }

  #missing(object: Needed): Cause {
    return {
      name: nameOf(object),
      isMended: async () => !(await this.#options.presence.isMissing(object)),
    };
  }

  #unlabelled(object: Needed): Cause {
    return {
      name: `label of ${nameOf(object)}`,
      isMended: async () => (await this.#options.presence.labelsOf(object))?.[ACCEPT_LABEL] === "enabled",
    };
  }

  #nameTaken({ metadata: { namespace = "", name = "" } }: Job): Cause {
    const isMended = async (): Promise<boolean> => {
      try {
        await this.#options.api.get(jobs, { namespace, name });
        return false;
      } catch (error) {
        if (isNotFound(error)) return true;
        if (isForbidden(error)) return false;
        throw error;
      }
    };
    return { name: `name of Job ${namespace}/${name}`, isMended };
  }
}

/** Like those that the Job controller would create. */
function podOf({ metadata, spec: { template } }: Job): Pod {
  const { labels, annotations } = template.metadata ?? {};
  const named = { generateName: `${metadata.name}-`, ...(labels && { labels }), ...(annotations && { annotations }) };
  return { metadata: named, spec: template.spec } as Pod;
}
