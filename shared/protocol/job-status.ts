import { z } from "zod";
import { checkIndexes } from "../job/index-grammar.ts";
import type { JobStatus } from "../job/types.ts";
import { MAX_CONDITIONS, MAX_INDEXES_CHARS, MAX_INT32, MAX_MESSAGE_CHARS, MAX_UNCOUNTED_PODS } from "./limits.ts";

/** Whole seconds in UTC, as API servers write times, naming a moment that exists. */
const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  .refine((text) => {
    const ms = Date.parse(text);
    return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
  }, "no such moment");

export const counter = z.int().min(0).max(MAX_INT32);

const indexes = z
  .string()
  .max(MAX_INDEXES_CHARS)
  .refine((text) => !("error" in checkIndexes(text, MAX_INT32 + 1)), "not ascending indexes such as 1,3-5");

const podUids = z.array(z.string().min(1).max(64)).max(MAX_UNCOUNTED_PODS);

const condition = z.strictObject({
  type: z.string().regex(/^[A-Za-z0-9]([-A-Za-z0-9_./]{0,314}[A-Za-z0-9])?$/),
  status: z.enum(["True", "False", "Unknown"]),
  lastProbeTime: time.nullish(),
  lastTransitionTime: time.nullish(),
  reason: z.string().max(1024).optional(),
  message: z.string().max(MAX_MESSAGE_CHARS).optional(),
});

const conditions = z
  .array(condition)
  .max(MAX_CONDITIONS)
  .refine((list) => new Set(list.map(({ type }) => type)).size === list.length, "a condition type stands twice");

const shape = z.strictObject({
  conditions: conditions.optional(),
  startTime: time.optional(),
  completionTime: time.optional(),
  active: counter.optional(),
  succeeded: counter.optional(),
  failed: counter.optional(),
  terminating: counter.optional(),
  ready: counter.optional(),
  completedIndexes: indexes.optional(),
  failedIndexes: indexes.optional(),
  uncountedTerminatedPods: z.strictObject({ succeeded: podUids.optional(), failed: podUids.optional() }).optional(),
});

/**
 * A Job's status as a worker claims it: well formed here, and only then compared with the hub Job by shared/job. Fields
 * that this version does not know are refused, so the agent sends only those in `JOB_STATUS_FIELDS`.
 */
export const jobStatus = shape as unknown as z.ZodType<JobStatus>;

export const JOB_STATUS_FIELDS = Object.keys(shape.shape) as readonly (keyof JobStatus)[];
