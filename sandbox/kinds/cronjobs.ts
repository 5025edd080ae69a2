import type { JobSpec, ObjectMeta } from "@jobferry/shared/job/types.ts";
import { type FieldError, Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { Draft, Strategy } from "../api/types.ts";
import { parseSchedule } from "../controllers/cron-schedule.ts";
import type { Stored } from "../store/frozen.ts";
import { defaultPodSpec } from "./defaulting/pod.ts";
import { validateJobTemplate } from "./validation/job-spec.ts";

interface CronJobSpec {
  schedule: string;
  timeZone?: string;
  concurrencyPolicy?: string;
  startingDeadlineSeconds?: number;
  successfulJobsHistoryLimit?: number;
  failedJobsHistoryLimit?: number;
  jobTemplate: { metadata?: ObjectMeta; spec: JobSpec };
}

/** Drafts of this type came through the decoder. */
const specOf = (object: Draft | Stored): CronJobSpec => object.spec as CronJobSpec;

/** The Jobs it creates have eleven more characters in their names. */
const NAME_LIMIT = 52;

export const cronJobStrategy: Strategy = {
  applyDefaults(draft) {
    const { jobTemplate, ...spec } = specOf(draft);
    const { template } = jobTemplate.spec;
    return {
      ...draft,
      spec: {
        concurrencyPolicy: "Allow",
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        ...spec,
        jobTemplate: {
          ...jobTemplate,
          spec: { ...jobTemplate.spec, template: { ...template, spec: defaultPodSpec(template.spec) } },
        },
      },
    };
  },

  prepareCreate: (draft) => ({ ...draft, status: {} }),
  prepareUpdate: (before, after) => ({ ...after, status: before.status }),
  prepareStatus: (before, after) => ({ ...after, spec: before.spec }),

  validateCreate(draft) {
    const v = new Violations();
    if (draft.metadata.name.length > NAME_LIMIT)
      v.invalid("metadata.name", draft.metadata.name, `must be no more than ${NAME_LIMIT} characters`);
    return [...v.errors, ...validateSpec(specOf(draft))];
  },
  validateUpdate: (_, after) => validateSpec(specOf(after)),
};

/** VC-53 */
function validateSpec(spec: CronJobSpec): FieldError[] {
  const v = new Violations();
  if (spec.schedule === "") v.required("spec.schedule");
  else validateSchedule(v, spec);
  v.nonNegative("spec.startingDeadlineSeconds", spec.startingDeadlineSeconds);
  v.oneOf("spec.concurrencyPolicy", spec.concurrencyPolicy, ["Allow", "Forbid", "Replace"]);
  v.nonNegative("spec.successfulJobsHistoryLimit", spec.successfulJobsHistoryLimit);
  v.nonNegative("spec.failedJobsHistoryLimit", spec.failedJobsHistoryLimit);
  validateJobTemplate(v, "spec.jobTemplate.spec", spec.jobTemplate.spec);
  return v.errors;
}

function validateSchedule(v: Violations, { schedule, timeZone }: CronJobSpec): void {
  try {
    parseSchedule(schedule, timeZone);
  } catch (error) {
    v.invalid("spec.schedule", schedule, error instanceof Error ? error.message : String(error));
  }
}
