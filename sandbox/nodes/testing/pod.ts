import type { Container, Pod, PodSpec } from "@jobferry/shared/job/types.ts";

type PodChanges = Omit<Partial<PodSpec>, "containers"> & {
  containers?: Partial<Container>[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
};

/** A pod with one container that runs to its end, unless told otherwise. */
export function aPod(name: string, changes: PodChanges = {}): Pod {
  const { containers = [{}], labels = {}, annotations = {}, finalizers = [], ...spec } = changes;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels, annotations, finalizers },
    spec: {
      restartPolicy: "Never",
      containers: containers.map((container, index) => ({ name: `c${index}`, image: "busybox", ...container })),
      ...spec,
    },
  };
}
