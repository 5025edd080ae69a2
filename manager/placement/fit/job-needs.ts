import type { NodeSelectorTerm, Toleration } from "@jobferry/shared/job/node-rules.ts";
import { type Amounts, podRequests } from "@jobferry/shared/job/requests.ts";
import type { Job, PodSpec } from "@jobferry/shared/job/types.ts";
import { GANG } from "@jobferry/shared/protocol/marks.ts";

/** Which nodes the pods of a Job may go to. */
export interface NodeRules {
  /** Bound by hand: no scheduler is asked. */
  readonly nodeName: string | undefined;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** Alternatives, one of which must match; undefined: any node will do. */
  readonly affinity: readonly NodeSelectorTerm[] | undefined;
  readonly tolerations: readonly Toleration[];
}

/** What a Job takes while it runs, and where. */
export interface JobNeeds {
  /** Requests of one pod, `pods` included; what is not asked for is left out. */
  readonly perPod: Amounts;
  /** Pods that run at a time. */
  readonly pods: number;
  /** All of them must have room at once. */
  readonly gang: boolean;
  /** It has ports of the node, so there is one pod to a node. */
  readonly alone: boolean;
  readonly rules: NodeRules;
}

type SchedulingFields = PodSpec & {
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] } };
  };
  tolerations?: Toleration[];
  hostNetwork?: boolean;
};

export function jobNeeds({ metadata, spec, status }: Job): JobNeeds {
  const left = (spec.completions ?? Number.POSITIVE_INFINITY) - (status?.succeeded ?? 0);
  return {
    ...podNeeds(spec.template.spec),
    pods: Math.max(1, Math.min(spec.parallelism ?? 1, left)),
    gang: metadata.annotations?.[GANG] === "true",
  };
}

function podNeeds(podSpec: PodSpec): Pick<JobNeeds, "perPod" | "alone" | "rules"> {
  const spec = podSpec as SchedulingFields;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const { nodeName = "" } = spec;
  return {
    perPod: new Map([...podRequests(spec)].filter(([, amount]) => amount > 0)),
    alone: takesHostPorts(spec),
    rules: {
      nodeName: nodeName === "" ? undefined : nodeName,
      nodeSelector: spec.nodeSelector ?? {},
      affinity: required === undefined ? undefined : (required.nodeSelectorTerms ?? []),
      tolerations: spec.tolerations ?? [],
    },
  };
}

/** On the host's network every port of a container is one of the host's. */
const takesHostPorts = ({ containers, initContainers = [], hostNetwork = false }: SchedulingFields): boolean =>
  [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")].some((container) =>
    ((container.ports as { hostPort?: number }[] | undefined) ?? []).some(
      ({ hostPort = 0 }) => hostNetwork || hostPort > 0,
    ),
  );
