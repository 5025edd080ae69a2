/** What pods ask of a node, in whole units: thousandths of a CPU, bytes, pods. */
import { milliValue } from "./quantity.ts";
import type { Container, PodSpec } from "./types.ts";

/** Units by resource name. */
export type Amounts = ReadonlyMap<string, number>;

/** A quantity as a number, to a thousandth; undefined when it is none. */
export function unitsOf(quantity: string | number): number | undefined {
  const milli = milliValue(String(quantity));
  return milli === undefined ? undefined : Number(milli) / 1000;
}

/** In the smallest unit that is still counted, rounded up as requests are; 0 for what is not a quantity. */
export function resourceUnits(resource: string, quantity: string | number): number {
  const units = unitsOf(quantity) ?? 0;
  return resource === "cpu" ? Math.round(units * 1000) : Math.ceil(units);
}

/**
 * What a node must have free: the app containers and sidecars together, or the hungriest init container with the sidecars
 * started before it, whichever is more; what the pod as a whole asks for stands above that. The pod itself takes one of the
 * node's `pods`.
 */
export function podRequests(spec: PodSpec): Amounts {
  const total = new Map<string, number>([["pods", 1]]);
  for (const container of spec.containers) addAll(total, containerRequests(container));
  const sidecars = new Map<string, number>();
  let peak: Map<string, number> | undefined;
  for (const container of spec.initContainers ?? []) {
    const requests = containerRequests(container);
    if (container.restartPolicy === "Always") {
      addAll(sidecars, requests);
      addAll(total, requests);
    } else {
      peak ??= new Map();
      for (const [resource, amount] of requests) raise(peak, resource, amount + (sidecars.get(resource) ?? 0));
    }
  }
  for (const [resource, amount] of peak ?? []) raise(total, resource, amount);
  for (const [resource, amount] of podLevelRequests(spec, total)) total.set(resource, amount);
  const overhead = (spec as { overhead?: Record<string, string> }).overhead ?? {};
  for (const [resource, quantity] of Object.entries(overhead)) add(total, resource, resourceUnits(resource, quantity));
  return total;
}

/**
 * Requests of the pod as a whole replace those of its containers. A limit of the pod is also its request where the
 * containers say nothing; of huge pages always, as no more can be taken than was asked for.
 */
function* podLevelRequests(spec: PodSpec, ofContainers: Amounts): Generator<[string, number]> {
  const { requests = {}, limits = {} } = (spec as { resources?: NonNullable<Container["resources"]> }).resources ?? {};
  for (const [resource, quantity] of Object.entries({ ...limits, ...requests })) {
    const huge = resource.startsWith("hugepages-");
    if (resource !== "cpu" && resource !== "memory" && !huge) continue;
    if (Object.hasOwn(requests, resource) || huge || !ofContainers.has(resource))
      yield [resource, resourceUnits(resource, quantity)];
  }
}

/** A limit without a request is also the request. */
function containerRequests(container: Container): [string, number][] {
  const { requests, limits } = container.resources ?? {};
  return Object.entries({ ...limits, ...requests }).map(([resource, quantity]) => [
    resource,
    resourceUnits(resource, quantity),
  ]);
}

const add = (sums: Map<string, number>, resource: string, amount: number): void => {
  sums.set(resource, (sums.get(resource) ?? 0) + amount);
};

const raise = (peaks: Map<string, number>, resource: string, amount: number): void => {
  peaks.set(resource, Math.max(peaks.get(resource) ?? 0, amount));
};

function addAll(sums: Map<string, number>, amounts: Iterable<readonly [string, number]>): void {
  for (const [resource, amount] of amounts) add(sums, resource, amount);
}
