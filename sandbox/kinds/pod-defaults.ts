/**
 * What the API server fills into a pod spec. Every function gives back the very object it got when nothing is missing, so that
 * pods made from a defaulted template share its parts.
 */
import { isRecord } from "../store/frozen.ts";

type Fields = Record<string, unknown>;

export function withDefaults(fields: Fields, defaults: Fields): Fields {
  let copy: Fields | undefined;
  for (const key of Object.keys(defaults)) {
    if (fields[key] !== undefined) continue;
    copy ??= { ...fields };
    copy[key] = defaults[key];
  }
  return copy ?? fields;
}

/** Replaces one field by what `change` makes of it. */
function mapField(fields: Fields, key: string, change: (value: Fields) => Fields): Fields {
  const value = fields[key];
  if (!isRecord(value)) return fields;
  const after = change(value);
  return after === value ? fields : { ...fields, [key]: after };
}

export function mapList(fields: Fields, key: string, change: (item: Fields) => Fields): Fields {
  const list = fields[key];
  if (!Array.isArray(list)) return fields;
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const item: unknown = list[i];
    if (!isRecord(item)) continue;
    const after = change(item);
    if (after === item) continue;
    copy ??= [...list];
    copy[i] = after;
  }
  return copy === undefined ? fields : { ...fields, [key]: copy };
}

const EMPTY: Fields = Object.freeze({});
const SPEC = Object.freeze({
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: EMPTY,
  schedulerName: "default-scheduler",
});
const CONTAINER = Object.freeze({
  resources: EMPTY,
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
});
const PROBE = Object.freeze({ timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
const HTTP_GET = Object.freeze({ path: "/", scheme: "HTTP" });
const FILE_MODE = Object.freeze({ defaultMode: 0o644 });

/** Defaults that Pods and pod templates share. */
export function defaultPodSpec(spec: Fields): Fields {
  let result = withDefaults(spec, SPEC);
  for (const list of ["containers", "initContainers"]) result = mapList(result, list, defaultContainer);
  return mapList(result, "volumes", defaultVolume);
}

function defaultContainer(container: Fields): Fields {
  let result = withDefaults(container, CONTAINER);
  if (result.imagePullPolicy === undefined && typeof result.image === "string")
    result = { ...result, imagePullPolicy: pullPolicy(result.image) };
  result = mapList(result, "ports", (port) => withDefaults(port, { protocol: "TCP" }));
  result = mapList(result, "env", (variable) =>
    mapField(variable, "valueFrom", (from) =>
      mapField(from, "fieldRef", (ref) => withDefaults(ref, { apiVersion: "v1" })),
    ),
  );
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"])
    result = mapField(result, probe, (fields) => mapField(withDefaults(fields, PROBE), "httpGet", defaultHttpGet));
  return mapField(result, "resources", defaultResources);
}

const defaultHttpGet = (action: Fields): Fields => withDefaults(action, HTTP_GET);

/** A limit without a request is also the request. */
function defaultResources(resources: Fields): Fields {
  if (!isRecord(resources.limits)) return resources;
  const requests = isRecord(resources.requests) ? resources.requests : {};
  const filled = withDefaults(requests, resources.limits);
  return filled === resources.requests ? resources : { ...resources, requests: filled };
}

function pullPolicy(image: string): string {
  const name = image.slice(image.lastIndexOf("/") + 1);
  if (name.includes("@")) return "IfNotPresent";
  const tag = /:([^:]*)$/.exec(name)?.[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

function defaultVolume(volume: Fields): Fields {
  let result = volume;
  for (const source of ["configMap", "secret", "downwardAPI", "projected"])
    result = mapField(result, source, (fields) => withDefaults(fields, FILE_MODE));
  const sources = Object.keys(volume).filter((key) => key !== "name");
  return sources.length === 0 ? { ...result, emptyDir: EMPTY } : result;
}

/** Defaults only for Pods, among them what admission adds. */
const POD_ONLY = Object.freeze({
  enableServiceLinks: true,
  preemptionPolicy: "PreemptLowerPriority",
  priority: 0,
  tolerations: Object.freeze(
    ["not-ready", "unreachable"].map((state) =>
      Object.freeze({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 300,
      }),
    ),
  ),
});

export const defaultPodOnly = (spec: Fields): Fields => withDefaults(spec, POD_ONLY);

export function defaultTemplate(template: unknown): unknown {
  if (!isRecord(template) || !isRecord(template.spec)) return template;
  const spec = defaultPodSpec(template.spec);
  return spec === template.spec ? template : { ...template, spec };
}

/** The quality-of-service class, from requests and limits of all containers. */
export function qosClass(spec: Fields): string {
  let any = false;
  let guaranteed = true;
  for (const list of [spec.containers, spec.initContainers]) {
    for (const container of Array.isArray(list) ? list : []) {
      const resources = isRecord(container) && isRecord(container.resources) ? container.resources : {};
      const limits = isRecord(resources.limits) ? resources.limits : {};
      const requests = isRecord(resources.requests) ? resources.requests : {};
      for (const name of ["cpu", "memory"]) {
        if (limits[name] !== undefined || requests[name] !== undefined) any = true;
        if (limits[name] === undefined || String(limits[name]) !== String(requests[name])) guaranteed = false;
      }
    }
  }
  if (!any) return "BestEffort";
  return guaranteed ? "Guaranteed" : "Burstable";
}
