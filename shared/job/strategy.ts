/** What the API server does with a decoded, defaulted Job before it validates it (section 26). */
import { CONTROLLER_UID_LABEL, JOB_NAME_LABEL, LEGACY_CONTROLLER_UID_LABEL, LEGACY_JOB_NAME_LABEL } from "./keys.ts";
import { semanticEqual } from "./schema/equal.ts";
import type { Job, JobSpec } from "./types.ts";

/** AP-2. The metadata must already carry the name and UID that the Job will have. */
export function prepareJobForCreate(job: Job): Job {
  return {
    ...job,
    metadata: { ...job.metadata, generation: 1 },
    spec: job.spec.manualSelector ? job.spec : withGeneratedSelector(job),
    status: {},
  };
}

/** AP-4 */
export function prepareJobForUpdate(stored: Job, proposed: Job): Job {
  const specChanged = !semanticEqual("JobSpec", stored.spec, proposed.spec);
  const generation = (stored.metadata.generation ?? 0) + (specChanged ? 1 : 0);
  return { ...proposed, metadata: { ...proposed.metadata, generation }, status: stored.status ?? {} };
}

/** AP-5 */
export function prepareJobForStatusUpdate(stored: Job, proposed: Job): Job {
  const generation = stored.metadata.generation ?? 0;
  return { ...proposed, metadata: { ...proposed.metadata, generation }, spec: stored.spec };
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
