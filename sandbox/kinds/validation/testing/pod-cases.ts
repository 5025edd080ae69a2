import { decodePod } from "../../decode.ts";
import { defaultPod } from "../../defaulting/pod.ts";
import { validatePodCreate } from "../pod-template.ts";

/** For tests: what validation says about a pod with this spec, as `field kind`, sorted. */
export function podComplaints(spec: object, metadata: object = {}): string[] {
  const pod = decodePod({ metadata: { name: "p", namespace: "default", ...metadata }, spec });
  return validatePodCreate(defaultPod(pod))
    .map(({ field, kind }) => `${field} ${kind}`)
    .sort();
}

/** The same for a pod with one container. */
export const containerComplaints = (container: object, podSpec: object = {}): string[] =>
  podComplaints({ containers: [{ name: "c", image: "x", ...container }], ...podSpec }).map((line) =>
    line.replace("spec.containers[0].", ""),
  );
