import type { Job } from "@jobferry/shared/job/types.ts";
import { withNullTimes } from "../api/conditions.ts";
import { dnsLabel } from "../api/names.ts";
import type { Draft, Strategy } from "../api/types.ts";
import type { Stored } from "../store/frozen.ts";
import { defaultJob } from "./defaulting/job.ts";
import { asStored, prepareJobForCreate, withWholeSeconds } from "./job-strategy.ts";
import { validateJobCreate, validateJobStatusWrite, validateJobUpdate } from "./validation/job.ts";

/** Drafts and stored objects of this type came through the decoder. */
const asJob = (object: Draft | Stored): Job => object as unknown as Job;
const asDraft = (job: Job): Draft => job as unknown as Draft;

const WIDE_COMPLETIONS = 100_000;
const WIDE_PARALLELISM = 10_000;

/** Jobs, by the rules the manager uses, too (sections 26 to 29). */
export const jobStrategy: Strategy = {
  checksMetadata: true,
  defaultPropagation: "Orphan",
  // OR-7, AP-7
  defaultPropagationWarning:
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",

  applyDefaults: (draft) => asDraft(defaultJob(asJob(draft))),
  prepareCreate: (draft) => asDraft(prepareJobForCreate(asJob(draft))),
  validateCreate: (draft) => validateJobCreate(asJob(draft)),
  prepareUpdate: (before, after) => ({ ...after, status: before.status }),
  validateUpdate: (before, after) => validateJobUpdate(asJob(before), asJob(after)),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec, status: withNullTimes(after.status as object) }),
  validateStatus: (before, after) => validateJobStatusWrite(asJob(before), asJob(after)),

  // A spec from the store has its defaults; only times may be new.
  share: (draft) => asDraft(Object.isFrozen(draft.spec) ? withWholeSeconds(asJob(draft)) : asStored(asJob(draft))),

  // AP-9
  createWarnings(draft) {
    const { completionMode, completions = 0, parallelism = 0 } = asJob(draft).spec;
    const warnings: string[] = [];
    const complaints = dnsLabel(draft.metadata.name);
    if (complaints.length > 0)
      warnings.push(
        `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${complaints.join(" ")}]`,
      );
    if (completionMode === "Indexed" && completions > WIDE_COMPLETIONS && parallelism > WIDE_PARALLELISM)
      warnings.push(
        "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail",
      );
    return warnings;
  },
};
