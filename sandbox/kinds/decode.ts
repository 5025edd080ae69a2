import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { DecodeError, decode } from "../schema/decode.ts";
import { isRecord } from "../store/frozen.ts";

/** Everything below (defaulting, strategy, validation) expects Jobs that came through here or from an API server. */
export const decodeJob = (json: unknown): Job => decodeAs<Job>("Job", json);

export const decodePod = (json: unknown): Pod => decodeAs<Pod>("Pod", json);

/** `T` must be the TypeScript view of the kind. */
function decodeAs<T>(kind: string, json: unknown): T {
  if (!isRecord(json)) throw new DecodeError(`the object provided is unrecognized (must be of type ${kind})`);
  return decode(kind, json).value as T;
}
