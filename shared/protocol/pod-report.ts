/** What an agent tells of the pods of its mirrors. */
import { z } from "zod";
import type { PodStatus } from "../job/types.ts";
import { counter } from "./job-status.ts";
import { MAX_CONDITIONS, MAX_POD_CONTAINERS, MAX_POD_EVENTS, MAX_POD_TEXT_CHARS } from "./limits.ts";

const name = z.string().min(1).max(253);
const text = z.string().max(MAX_POD_TEXT_CHARS);
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/);

const condition = z.strictObject({
  type: z.string().min(1).max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: text.optional(),
  message: text.optional(),
  lastTransitionTime: time.optional(),
});

const state = z.strictObject({
  waiting: z.strictObject({ reason: text.optional(), message: text.optional() }).optional(),
  running: z.strictObject({ startedAt: time.optional() }).optional(),
  terminated: z
    .strictObject({
      exitCode: z.int(),
      signal: z.int().optional(),
      reason: text.optional(),
      message: text.optional(),
      startedAt: time.optional(),
      finishedAt: time.optional(),
      containerID: text.optional(),
    })
    .optional(),
});

const container = z.strictObject({
  name,
  ready: z.boolean(),
  restartCount: counter,
  started: z.boolean().optional(),
  image: text.optional(),
  imageID: text.optional(),
  containerID: text.optional(),
  state: state.optional(),
  lastState: state.optional(),
});

const status = z.strictObject({
  phase: z.enum(["Pending", "Running", "Succeeded", "Failed", "Unknown"]).optional(),
  reason: text.optional(),
  message: text.optional(),
  startTime: time.optional(),
  conditions: z.array(condition).max(MAX_CONDITIONS).optional(),
  initContainerStatuses: z.array(container).max(MAX_POD_CONTAINERS).optional(),
  containerStatuses: z.array(container).max(MAX_POD_CONTAINERS).optional(),
}) as unknown as z.ZodType<PodStatus>;

/** What its scheduler, kubelet and others said of a pod. */
const podEvent = z.object({
  type: z.union([z.literal("Normal"), z.literal("Warning")]),
  reason: z.string().min(1).max(128),
  message: text,
  count: counter.min(1),
  /** When it was last seen. */
  at: time,
});
export type PodEvent = z.infer<typeof podEvent>;

/** One pod of a mirror, as its own cluster has it. */
export const reportedPod = z.object({
  name,
  uid: z.string().min(1).max(64),
  node: z.string().max(253).optional(),
  /** Of an Indexed Job's pod. */
  index: counter.optional(),
  /** It is being deleted there. */
  leaving: z.literal(true).optional(),
  status,
  events: z.array(podEvent).max(MAX_POD_EVENTS).optional(),
});
export type ReportedPod = z.infer<typeof reportedPod>;
