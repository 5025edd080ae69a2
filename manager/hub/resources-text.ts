import type { Container, PodSpec } from "@jobferry/shared/job/types.ts";

type Resources = NonNullable<Container["resources"]>;

/** What the pods request, as it is written: the same text as long as nobody edited it, whatever release reads it. */
export function resourcesText(spec: PodSpec): string {
  const { resources, overhead } = spec as { resources?: Resources; overhead?: Resources["requests"] };
  const ofContainers = [...spec.containers, ...(spec.initContainers ?? [])].map(({ resources: own }) => amounts(own));
  return JSON.stringify([ofContainers, amounts(resources), sorted(overhead)]);
}

const amounts = ({ requests, limits }: Resources = {}): unknown => [sorted(requests), sorted(limits)];

const sorted = (list: Readonly<Record<string, unknown>> = {}): [string, string][] =>
  Object.entries(list)
    .map(([resource, quantity]): [string, string] => [resource, String(quantity)])
    .sort(([one], [other]) => (one < other ? -1 : 1));
