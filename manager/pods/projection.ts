/** The shadow of a worker's pod as an object: what the hub may see of it, and nothing that a controller of the hub could act on. */
import { createHash } from "node:crypto";
import { COMPLETION_INDEX } from "@jobferry/shared/job/keys.ts";
import type { Container, Job, Pod, PodSpec } from "@jobferry/shared/job/types.ts";
import {
  CLUSTER,
  EPOCH,
  RESOURCES,
  SHADOW_LABEL,
  WORKER_NODE,
  WORKER_POD,
  WORKER_POD_UID,
} from "@jobferry/shared/protocol/marks.ts";
import type { ClusterName, Epoch } from "@jobferry/shared/protocol/names.ts";
import type { ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";

/** The name of the virtual node that all shadows are bound to. */
export const NODE_NAME = "jobferry";
/** Selects pods of that node. */
export const ON_OUR_NODE = `spec.nodeName=${NODE_NAME}`;

/** As the API server's own: no vowels, so that no words come out. */
const ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_CHARS = 5;
/** What a generated name may have before its suffix. */
const MAX_BASE_CHARS = 57;
const MAX_RESOURCES_CHARS = 16_384;
const MARK_PREFIX = "jobferry.dev/";
/** Said, because a quota refuses pods that do not say what they ask of a resource that it counts. */
const NOTHING = { cpu: "0", memory: "0", "ephemeral-storage": "0" };

/** The worker's pod that a shadow stands for. */
export interface Binding {
  readonly cluster: ClusterName;
  readonly epoch: Epoch;
  readonly pod: Pick<ReportedPod, "name" | "uid" | "node">;
}

interface NewShadow {
  /** What makes it different from the Job's other shadows: the same key gives the same name, whoever makes it. */
  readonly key: string;
  readonly index?: number | undefined;
  readonly binding?: Binding | undefined;
}

export function newShadow(job: Job, { key, index, binding }: NewShadow): Pod {
  const { template } = job.spec;
  const { name = "", namespace = "", uid = "" } = job.metadata;
  const isIndexed = index !== undefined;
  const own = isIndexed ? { [COMPLETION_INDEX]: String(index) } : {};
  const labels = { ...withoutMarks(template.metadata?.labels), ...own };
  const annotations = { ...withoutMarks(template.metadata?.annotations), ...own };
  const marks = binding === undefined ? { labels: {}, annotations: {} } : marksOf(binding);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `${baseOf(isIndexed ? `${name}-${index}` : name)}-${suffixOf(uid, key)}`,
      namespace,
      labels: { ...labels, ...marks.labels, [SHADOW_LABEL]: uid },
      annotations: { ...annotations, ...resourcesMark(template.spec), ...marks.annotations },
      ownerReferences: [
        { apiVersion: "batch/v1", kind: "Job", name, uid, controller: true, blockOwnerDeletion: false },
      ],
    },
    spec: projected(template.spec),
  };
}

/** A name may have a dot, but not a dash behind it. */
const baseOf = (name: string): string => name.slice(0, MAX_BASE_CHARS).replace(/\.+$/, "");

/** Of a template that says by itself which pod its shadow stands for, nothing is believed. */
const withoutMarks = (marks: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(marks).filter(([key]) => !key.startsWith(MARK_PREFIX)));

export const marksOf = ({ cluster, epoch, pod }: Binding) => ({
  labels: { [CLUSTER]: cluster },
  annotations: {
    [EPOCH]: String(epoch),
    [WORKER_POD]: pod.name,
    [WORKER_POD_UID]: pod.uid,
    ...(pod.node === undefined || pod.node === "" ? {} : { [WORKER_NODE]: pod.node }),
  },
});

export const workerPodUid = (shadow: Pod): string | undefined => shadow.metadata.annotations?.[WORKER_POD_UID];

export const epochOf = (shadow: Pod): number => Number(shadow.metadata.annotations?.[EPOCH] ?? 0);

/**
 * Containers by name, image and command; of the environment only the names, since values may be secret. No volume, claim, token,
 * port or probe. Nothing runs here, so the strictest security context is true, and it lets the shadow into every namespace.
 */
function projected(spec: PodSpec): PodSpec {
  const { restartPolicy, terminationGracePeriodSeconds } = spec;
  return {
    nodeName: NODE_NAME,
    containers: spec.containers.map(projectedContainer),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(projectedContainer) }),
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
    ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
    tolerations: [{ operator: "Exists" }],
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { runAsNonRoot: true, runAsUser: 65_534, seccompProfile: { type: "RuntimeDefault" } },
  };
}

function projectedContainer({ name, image, command, args, env, restartPolicy, workingDir }: Container): Container {
  return {
    name,
    ...(image === undefined ? {} : { image }),
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args }),
    ...(workingDir === undefined ? {} : { workingDir }),
    ...(env === undefined ? {} : { env: env.map((variable) => ({ name: variable.name })) }),
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
    resources: { requests: NOTHING, limits: NOTHING },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
}

function resourcesMark({ containers, initContainers = [] }: PodSpec): Record<string, string> {
  const asked = [...initContainers, ...containers].flatMap(({ name, resources }) =>
    resources === undefined || Object.keys(resources).length === 0 ? [] : [[name, resources] as const],
  );
  const text = JSON.stringify(Object.fromEntries(asked));
  return asked.length === 0 || text.length > MAX_RESOURCES_CHARS ? {} : { [RESOURCES]: text };
}

function suffixOf(uid: string, key: string): string {
  const hash = createHash("sha256").update(`${uid}/${key}`).digest();
  return Array.from({ length: SUFFIX_CHARS }, (_, at) => ALPHABET[hash.readUInt16BE(2 * at) % ALPHABET.length]).join(
    "",
  );
}
