/** What the API server fills into pods and pod templates when it decodes them. Inputs are decoded objects, left untouched. */

import { canonicalQuantity, roundUpToMilli } from "@jobferry/shared/job/quantity.ts";
import type { Pod, PodSpec } from "@jobferry/shared/job/types.ts";
import type { FullContainer, FullPodSpec, Handler, Probe, Quantities } from "../../schema/pod-types.ts";
import { defaultPullPolicy } from "./image.ts";
import { containersNeed } from "./pod-resources.ts";
import { defaultVolume } from "./volume.ts";

export function defaultPodSpec(given: PodSpec): FullPodSpec {
  const spec = given as FullPodSpec;
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  return {
    dnsPolicy: "ClusterFirst",
    restartPolicy: "Always",
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    schedulerName: "default-scheduler",
    ...spec,
    // Two names of one field.
    ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
    containers: spec.containers.map(defaultContainer),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(defaultContainer) }),
    ...(spec.ephemeralContainers && { ephemeralContainers: spec.ephemeralContainers.map(defaultContainer) }),
    ...(spec.volumes && { volumes: spec.volumes.map(defaultVolume) }),
    ...(spec.overhead && { overhead: mapValues(spec.overhead, roundUpToMilli) }),
  };
}

/** For pods only: templates keep requests, grace and service links as the user wrote them. */
export function defaultPod(pod: Pod): Pod {
  const spec = defaultPodSpec(pod.spec);
  const finish = (container: FullContainer): FullContainer =>
    requestsFromLimits(spec.hostNetwork ? hostPortsFromContainerPorts(container) : container);
  const finished: FullPodSpec = {
    enableServiceLinks: true,
    ...spec,
    containers: spec.containers.map(finish),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(finish) }),
    // A negative grace period means the shortest one.
    ...((spec.terminationGracePeriodSeconds ?? 0) < 0 && { terminationGracePeriodSeconds: 1 }),
  };
  return { ...pod, spec: withPodRequests(finished) };
}

/** A pod with limits of its own requests what its containers request, or else as much as the limits. */
function withPodRequests(spec: FullPodSpec): FullPodSpec {
  const { limits } = spec.resources ?? {};
  if (limits === undefined) return spec;
  const shared = Object.entries(limits).filter(([name]) => /^(cpu|memory|hugepages-.*)$/.test(name));
  const requests: Quantities = Object.fromEntries(shared);
  for (const resource of ["cpu", "memory"]) {
    const need = containersNeed(spec, "requests", resource);
    if (need > 0n) requests[resource] = canonicalQuantity(`${need}m`) ?? "0";
  }
  return { ...spec, resources: { ...spec.resources, requests: { ...requests, ...spec.resources?.requests } } };
}

function requestsFromLimits(container: FullContainer): FullContainer {
  const { limits, requests } = container.resources;
  if (limits === undefined) return container;
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

function hostPortsFromContainerPorts(container: FullContainer): FullContainer {
  if (container.ports === undefined) return container;
  return { ...container, ports: container.ports.map((port) => ({ hostPort: port.containerPort, ...port })) };
}

function defaultContainer(container: FullContainer): FullContainer {
  const { ports, env, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  return {
    imagePullPolicy: defaultPullPolicy(container.image),
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    ...container,
    resources: roundResources(container.resources),
    ...(ports && { ports: ports.map((port) => ({ protocol: "TCP", ...port })) }),
    ...(env && { env: env.map(defaultEnv) }),
    ...(livenessProbe && { livenessProbe: defaultProbe(livenessProbe) }),
    ...(readinessProbe && { readinessProbe: defaultProbe(readinessProbe) }),
    ...(startupProbe && { startupProbe: defaultProbe(startupProbe) }),
    ...(lifecycle && {
      lifecycle: {
        ...lifecycle,
        ...(lifecycle.postStart && { postStart: defaultHandler(lifecycle.postStart) }),
        ...(lifecycle.preStop && { preStop: defaultHandler(lifecycle.preStop) }),
      },
    }),
  };
}

function roundResources(resources: FullContainer["resources"]): FullContainer["resources"] {
  return {
    ...resources,
    ...(resources.limits && { limits: mapValues(resources.limits, roundUpToMilli) }),
    ...(resources.requests && { requests: mapValues(resources.requests, roundUpToMilli) }),
  };
}

const mapValues = (quantities: Quantities, change: (quantity: string) => string): Quantities =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, change(quantity)]));

function defaultEnv(variable: NonNullable<FullContainer["env"]>[number]): NonNullable<FullContainer["env"]>[number] {
  const { valueFrom } = variable;
  if (valueFrom === undefined) return variable;
  const { fieldRef, fileKeyRef } = valueFrom;
  return {
    ...variable,
    valueFrom: {
      ...valueFrom,
      ...(fieldRef && { fieldRef: { apiVersion: "v1", ...fieldRef } }),
      ...(fileKeyRef && { fileKeyRef: { optional: false, ...fileKeyRef } }),
    },
  };
}

function defaultProbe(probe: Probe): Probe {
  return {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...probe,
    ...defaultHandler(probe),
    ...(probe.grpc && { grpc: { service: "", ...probe.grpc } }),
  };
}

function defaultHandler<H extends Handler>(handler: H): H {
  return handler.httpGet === undefined
    ? handler
    : { ...handler, httpGet: { path: "/", scheme: "HTTP", ...handler.httpGet } };
}
