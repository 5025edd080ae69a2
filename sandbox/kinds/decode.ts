import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { type Decoded, decodeAs } from "../schema/canonical/decode.ts";

/** Everything below (defaulting, strategy, validation) expects Jobs that came through here or from an API server. */
export const decodeJob = (json: unknown): Decoded<Job> => decodeAs<Job>("Job", json);

export const decodePod = (json: unknown): Decoded<Pod> => decodeAs<Pod>("Pod", json);
