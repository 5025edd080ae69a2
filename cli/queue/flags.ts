/** The flags of `jobferry queue ...`: apart from what they start, so that `--help` answers at once. */
import { hubConfig } from "../hub/flags.ts";

export const queueFlags = { list: hubConfig, pause: hubConfig, resume: hubConfig } as const;
export type QueueVerb = keyof typeof queueFlags;
