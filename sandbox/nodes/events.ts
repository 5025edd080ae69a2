import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject } from "@jobferry/shared/kube/api.ts";

/** Where a component announces what happens to an object. */
export type EventSink<T extends KubeObject> = (
  object: T,
  type: "Normal" | "Warning",
  reason: string,
  message: string,
) => void;

export type PodEventSink = EventSink<Pod>;
