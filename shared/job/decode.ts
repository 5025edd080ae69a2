import { type Decoded, decodeAs } from "./schema/decode.ts";
import type { Job, Pod } from "./types.ts";

/** Everything below (defaulting, strategy, validation) expects Jobs that came through here or from an API server. */
export const decodeJob = (json: unknown): Decoded<Job> => decodeAs<Job>("Job", json);

export const decodePod = (json: unknown): Decoded<Pod> => decodeAs<Pod>("Pod", json);
