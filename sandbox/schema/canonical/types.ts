import { CONTAINER_TYPES } from "./container.ts";
import { JOB_TYPES } from "./job.ts";
import { META_TYPES } from "./meta.ts";
import { readTables } from "./notation.ts";
import { POD_TYPES } from "./pod.ts";
import { POD_SPEC_TYPES } from "./pod-spec.ts";
import { VOLUME_TYPES } from "./volume.ts";

/** Every type reachable from a Job, CronJob or Pod, as Kubernetes 1.36 defines it. */
export const TYPES = readTables(META_TYPES, JOB_TYPES, POD_TYPES, POD_SPEC_TYPES, CONTAINER_TYPES, VOLUME_TYPES);
