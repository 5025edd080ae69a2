/** What the API server does with a decoded, defaulted Job before it validates it (section 26). */

import {
  CONTROLLER_UID_LABEL,
  JOB_NAME_LABEL,
  LEGACY_CONTROLLER_UID_LABEL,
  LEGACY_JOB_NAME_LABEL,
} from "@jobferry/shared/job/keys.ts";
import type { Job, JobSpec } from "@jobferry/shared/job/types.ts";
import { truncateTimes } from "../schema/truncate.ts";
import { defaultJob } from "./defaulting/job.ts";

/** AP-2. The metadata must already carry the name and UID that the Job will have. */
export function prepareJobForCreate(job: Job): Job {
  const metadata = { ...job.metadata, generation: 1 };
  if (job.spec.manualSelector) return { ...job, metadata, status: {} };
  const spec = withGeneratedSelector(job);
  const labels = spec.template.metadata?.labels;
  // Labels that defaulting took over from the template are the template's: the API server adds the generated ones to both.
  const inherited = labels !== undefined && job.metadata.labels === job.spec.template.metadata?.labels;
  return {
    ...job,
    metadata: inherited && metadata.labels !== undefined ? { ...metadata, labels } : metadata,
    spec,
    status: {},
  };
}

/**
 * The Job as every later read shows it, given what was accepted: whole seconds, and defaults applied once more, by which a
 * Job without labels gets those of its template, the generated ones included.
 */
export const asStored = (job: Job): Job => defaultJob(withWholeSeconds(job));

/** SW-9 */
export function withWholeSeconds(job: Job): Job {
  const { metadata, status } = job;
  return {
    ...job,
    metadata: truncateTimes("ObjectMeta", metadata),
    ...(status && { status: truncateTimes("JobStatus", status) }),
  };
}

/** AP-3: user labels and selector entries win here; validation refuses them if they do not fit. */
function withGeneratedSelector({ metadata, spec }: Job): JobSpec {
  const { name = "", uid = "" } = metadata;
  const { template, selector } = spec;
  return {
    ...spec,
    template: {
      ...template,
      metadata: {
        ...template.metadata,
        labels: {
          [LEGACY_JOB_NAME_LABEL]: name,
          [JOB_NAME_LABEL]: name,
          [LEGACY_CONTROLLER_UID_LABEL]: uid,
          [CONTROLLER_UID_LABEL]: uid,
          ...template.metadata?.labels,
        },
      },
    },
    selector: { ...selector, matchLabels: { [CONTROLLER_UID_LABEL]: uid, ...selector?.matchLabels } },
  };
}
