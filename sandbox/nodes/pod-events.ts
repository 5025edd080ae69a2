import type { Pod } from "@jobferry/shared/job/types.ts";

/** Where scheduler and kubelet announce what happens to a pod. */
export type PodEventSink = (pod: Pod, type: "Normal" | "Warning", reason: string, message: string) => void;
