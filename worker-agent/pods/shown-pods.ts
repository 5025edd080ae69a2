import { JOB_NAME_LABEL } from "@jobferry/shared/job/keys.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { Resource } from "@jobferry/shared/kube/api.ts";
import { type Fields, flag, part, parts, shownNumber, text, time } from "@jobferry/shared/kube/protobuf/message.ts";
import { objectMeta } from "@jobferry/shared/kube/protobuf/meta.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { terminated } from "../lean-pods.ts";

const condition: Fields = {
  1: text("type"),
  2: text("status"),
  4: time("lastTransitionTime"),
  5: text("reason"),
  6: text("message"),
};

const state: Fields = {
  1: part("waiting", { 1: text("reason"), 2: text("message") }),
  2: part("running", { 1: time("startedAt") }),
  3: part("terminated", terminated),
};

const containerStatus: Fields = {
  1: text("name"),
  2: part("state", state),
  3: part("lastState", state),
  4: flag("ready"),
  5: shownNumber("restartCount"),
  6: text("image"),
  7: text("imageID"),
  8: text("containerID"),
  9: flag("started"),
};

const status: Fields = {
  1: text("phase"),
  2: parts("conditions", condition),
  3: text("message"),
  4: text("reason"),
  7: time("startTime"),
  8: parts("containerStatuses", containerStatus),
  10: parts("initContainerStatuses", containerStatus),
};

/** Pods with what the hub shows of them, and nothing else. */
export const shownPods: Resource<Pod> = {
  ...pods,
  protobuf: { 1: part("metadata", objectMeta), 2: part("spec", { 10: text("nodeName") }), 3: part("status", status) },
};

/** Pods of Jobs, whoever runs them. */
export const OF_JOBS = JOB_NAME_LABEL;

/** A server that answers in JSON gives whole pods; only this much of each is kept. */
export function trimShown({ metadata, spec, status }: Pod): Pod {
  const { managedFields: _, ...kept } = metadata;
  const { nodeName } = spec;
  return {
    metadata: kept,
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
    ...(status === undefined ? {} : { status }),
  };
}
