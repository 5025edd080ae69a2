import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { HUB_MANAGED_BY, WITHDRAW_FINALIZER } from "@jobferry/shared/protocol/marks.ts";
import { type ClusterName, epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import { Grants } from "../hub/grants.ts";
import { type Assignment, Phases } from "../hub/phase.ts";

export const UID = hubUid.parse("0b7c1a2e-0000-4000-8000-000000000001");
export const EAST = parseClusterName("east");
export const WEST = parseClusterName("west");
export const epochOf = (number: number) => epoch.parse(number);

/** Of a manager whose key no test shares. */
export const phases = new Phases(new Grants([generateKeyPair().privateKey]));

export const anAssignment = (number = 2, cluster: ClusterName = EAST): Assignment => ({
  cluster,
  epoch: epochOf(number),
  queue: "default",
});

/** What the manager writes on a Job that it assigns, or that waits again. */
export function marksOf(assignment: Assignment, waits = false): Record<string, string> {
  const marks = Object.entries(phases.annotationsOf(aHubJob(), assignment, waits));
  return Object.fromEntries(marks.filter((mark): mark is [string, string] => mark[1] !== null));
}

interface Shape {
  spec?: Partial<Job["spec"]>;
  status?: JobStatus;
  metadata?: Partial<Job["metadata"]>;
}

/** A hub Job that waits for a cluster. */
export const aHubJob = ({ spec, status, metadata }: Shape = {}): Job => ({
  metadata: { name: "pi", namespace: "team", uid: UID, resourceVersion: "7", generation: 1, ...metadata },
  spec: {
    managedBy: HUB_MANAGED_BY,
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    ...spec,
    template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] } },
  },
  ...(status === undefined ? {} : { status }),
});

/** The same Job once it is east's in epoch 2. */
export const anAssignedJob = ({ spec, status, metadata }: Shape = {}): Job =>
  aHubJob({
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
    metadata: {
      finalizers: [WITHDRAW_FINALIZER],
      ...metadata,
      annotations: { ...marksOf(anAssignment()), ...metadata?.annotations },
    },
  });

export const aCondition = (type: string, status = "True", reason = "") => ({
  type,
  status: status as "True" | "False",
  reason,
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  lastProbeTime: "2026-01-01T00:00:00Z",
});
