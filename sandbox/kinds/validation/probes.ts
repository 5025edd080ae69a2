import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullContainer, Handler, Probe } from "../../schema/pod-types.ts";

export const isPortNumber = (port: number): boolean => port >= 1 && port <= 65535;

export function checkPortName(name: string): string[] {
  const complaints: string[] = [];
  if (name.length > 15) complaints.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(name)) complaints.push("must contain only a-z, 0-9 and '-'");
  if (!/[a-z]/.test(name)) complaints.push("must contain at least one letter");
  if (name.includes("--")) complaints.push("must not contain '--'");
  if (name.startsWith("-") || name.endsWith("-")) complaints.push("must not begin or end with '-'");
  return complaints;
}

function validatePort(v: Violations, field: string, port: number | string): void {
  if (typeof port === "string") v.malformed(field, port, checkPortName(port));
  else if (!isPortNumber(port)) v.invalid(field, port, "must be between 1 and 65535");
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

/** Exactly one way of asking; only the first one given is looked into. */
export function validateHandler(v: Violations, path: string, handler: Handler, gracePeriod: number | undefined): void {
  const [first, ...others] = HANDLERS.filter((name) => handler[name] !== undefined);
  for (const name of others) v.forbidden(`${path}.${name}`, "only one kind of handler is allowed");
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (first === undefined) v.required(path, `one of ${HANDLERS.join(", ")}`);
  if (first === "exec" && !exec?.command?.length) v.required(`${path}.exec.command`);
  if (first === "httpGet" && httpGet) validateHttpGet(v, `${path}.httpGet`, httpGet);
  if (first === "tcpSocket" && tcpSocket) validatePort(v, `${path}.tcpSocket.port`, tcpSocket.port);
  if (first === "grpc" && grpc) validatePort(v, `${path}.grpc.port`, grpc.port);
  if (first === "sleep" && sleep && gracePeriod !== undefined && (sleep.seconds < 0 || sleep.seconds > gracePeriod)) {
    v.invalid(`${path}.sleep`, sleep.seconds, `must be between 0 and the grace period of ${gracePeriod} s`);
  }
}

function validateHttpGet(v: Violations, path: string, request: NonNullable<Handler["httpGet"]>): void {
  if (!request.path) v.required(`${path}.path`);
  validatePort(v, `${path}.port`, request.port);
  if (request.scheme !== "HTTP" && request.scheme !== "HTTPS") {
    v.notSupported(`${path}.scheme`, request.scheme, ["HTTP", "HTTPS"]);
  }
  for (const { name } of request.httpHeaders ?? []) {
    if (!/^[-A-Za-z0-9]+$/.test(name))
      v.invalid(`${path}.httpHeaders`, name, "must consist of alphanumeric characters or '-'");
  }
}

const PROBE_COUNTERS = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

export function validateProbes(v: Violations, path: string, container: FullContainer, grace: number | undefined): void {
  for (const kind of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    const probe = container[kind];
    if (probe) validateProbe(v, `${path}.${kind}`, probe, kind, grace);
  }
}

function validateProbe(v: Violations, path: string, probe: Probe, kind: string, grace: number | undefined): void {
  // `sleep` is not among the probe's fields, so the handler rules fit probes, too.
  validateHandler(v, path, probe, grace);
  for (const counter of PROBE_COUNTERS) v.nonNegative(`${path}.${counter}`, probe[counter]);
  const { terminationGracePeriodSeconds: ownGrace } = probe;
  if (ownGrace !== undefined && ownGrace <= 0)
    v.invalid(`${path}.terminationGracePeriodSeconds`, ownGrace, "must be above 0");
  if (kind === "readinessProbe" && ownGrace !== undefined) {
    v.invalid(`${path}.terminationGracePeriodSeconds`, ownGrace, "a readiness probe stops nothing");
  }
  if (kind !== "readinessProbe" && probe.successThreshold !== 1) {
    v.invalid(`${path}.successThreshold`, probe.successThreshold, "must be 1");
  }
}
