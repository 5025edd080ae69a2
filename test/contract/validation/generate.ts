import type { Random } from "../../differential/random.ts";
import type { FieldChoices } from "./choices.ts";
import { JOB_FIELDS } from "./fields.ts";
import { setPath } from "./paths.ts";
import { POD_FIELDS } from "./pod-fields.ts";
import { CHANGES } from "./update-fields.ts";

export interface Generated {
  readonly json: Record<string, unknown>;
  /** What was done to a valid Job, for the failure message. */
  readonly edits: readonly string[];
}

function validJob(random: Random, name: string): Record<string, unknown> {
  const indexed = random.chance(0.5) ? { completionMode: "Indexed", completions: random.int(1, 4) } : {};
  const perIndex = "completions" in indexed && random.chance(0.3) ? { backoffLimitPerIndex: 1 } : {};
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      ...indexed,
      ...perIndex,
      template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }] } },
    },
  };
}

export function generateCreate(random: Random, name: string): Generated {
  return edited(random, validJob(random, name), random.int(0, 4));
}

/** Fields that admission plugins judge before validation sees them. */
const ADMISSION = /priorityClassName|preemptionPolicy|runtimeClassName|serviceAccount|overhead|tolerations/;
const OWN_POD_FIELDS = POD_FIELDS.filter(([path]) => !ADMISSION.test(path)).map(
  ([path, values]): FieldChoices => [path.replace("spec.template.spec", "spec"), values],
);

export function generatePod(random: Random, name: string): Generated {
  const spec = { restartPolicy: "Never", containers: [{ name: "c", image: "busybox:1" }] };
  return edited(
    random,
    { apiVersion: "v1", kind: "Pod", metadata: { name }, spec },
    random.int(0, 4),
    OWN_POD_FIELDS,
    1,
  );
}

/** Metadata that identifies the object cannot be tried: the request would go elsewhere. */
const UPDATE_FIELDS = JOB_FIELDS.filter(([path]) => !/^metadata\.(name|generateName)$/.test(path));

export function generateUpdate(random: Random, stored: object): Generated {
  const json = structuredClone(stored) as Record<string, unknown>;
  const jobFields = random.chance(0.7) ? CHANGES : UPDATE_FIELDS;
  return edited(random, json, random.int(0, 3), jobFields, random.chance(0.8) ? 1 : 0.5);
}

function edited(
  random: Random,
  json: Record<string, unknown>,
  count: number,
  jobFields: readonly FieldChoices[] = JOB_FIELDS,
  jobShare = 0.55,
): Generated {
  const edits: string[] = [];
  for (let i = 0; i < count; i++) {
    const fields = random.chance(jobShare) ? jobFields : POD_FIELDS;
    const [path, values] = random.pick(fields as readonly [FieldChoices, ...FieldChoices[]]);
    const value = random.pick(values);
    setPath(json, path, value);
    edits.push(`${path} = ${(JSON.stringify(value) ?? "absent").slice(0, 120)}`);
  }
  return { json, edits };
}
