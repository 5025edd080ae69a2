import type { Pod } from "@jobferry/shared/job/types.ts";
import type { Resource } from "@jobferry/shared/kube/api.ts";
import {
  type Fields,
  number,
  part,
  parts,
  quantities,
  shownNumber,
  text,
  time,
} from "@jobferry/shared/kube/protobuf/message.ts";
import { objectMeta } from "@jobferry/shared/kube/protobuf/meta.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";

const resources: Fields = { 1: quantities("limits"), 2: quantities("requests") };
const container: Fields = { 1: text("name"), 8: part("resources", resources), 24: text("restartPolicy") };

const spec: Fields = {
  2: parts("containers", container),
  10: text("nodeName"),
  20: parts("initContainers", container),
  32: quantities("overhead"),
  40: part("resources", resources),
};

const condition: Fields = {
  1: text("type"),
  2: text("status"),
  3: time("lastProbeTime"),
  4: time("lastTransitionTime"),
  5: text("reason"),
  6: text("message"),
  7: number("observedGeneration"),
};

/** How a container ended. */
export const terminated: Fields = {
  1: shownNumber("exitCode"),
  2: number("signal"),
  3: text("reason"),
  4: text("message"),
  5: time("startedAt"),
  6: time("finishedAt"),
  7: text("containerID"),
};

const containerStatus: Fields = {
  1: text("name"),
  2: part("state", { 3: part("terminated", terminated) }),
  5: shownNumber("restartCount"),
};

const status: Fields = {
  1: text("phase"),
  2: parts("conditions", condition),
  8: parts("containerStatuses", containerStatus),
  10: parts("initContainerStatuses", containerStatus),
};

/**
 * Pods with what the agent's caches keep of them, and nothing else: metadata, what they ask of which node, and how far they
 * are. The API server writes every change of every pod for us, and protobuf costs it a fraction of JSON; so it does us, who
 * skip the rest. A server that answers in JSON all the same gives whole pods.
 */
export const leanPods: Resource<Pod> = {
  ...pods,
  protobuf: { 1: part("metadata", objectMeta), 2: part("spec", spec), 3: part("status", status) },
};
