import { checkDnsLabel, checkDnsSubdomain } from "@jobferry/shared/job/names.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { EnvVarSource, EnvVarWithSource, FullContainer, Volume } from "../../schema/pod-types.ts";
import { validateFieldRef, validateResourceFieldRef } from "./downward.ts";
import { hasBackstep } from "./paths.ts";

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];

/** Printable ASCII without "=". */
function checkEnvName(name: string): string[] {
  return /^[ -<>-~]*$/.test(name) ? [] : ["must consist of printable ASCII characters other than '='"];
}

function checkConfigKey(key: string): string[] {
  const complaints: string[] = [];
  if (key.length > 253) complaints.push("must be no more than 253 characters");
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) complaints.push("must consist of alphanumeric characters, '-', '_' or '.'");
  if (key === "." || key.startsWith("..")) complaints.push("must not be '.' or start with '..'");
  return complaints;
}

export function validateEnv(
  v: Violations,
  path: string,
  variables: readonly EnvVarWithSource[],
  volumes: readonly Volume[],
): void {
  variables.forEach((variable, index) => {
    const field = `${path}[${index}]`;
    if (variable.name === "") v.required(`${field}.name`);
    else v.malformed(`${field}.name`, variable.name, checkEnvName(variable.name));
    if (variable.valueFrom) validateSource(v, `${field}.valueFrom`, variable, variable.valueFrom, volumes);
  });
}

function validateSource(
  v: Violations,
  path: string,
  variable: EnvVarWithSource,
  source: EnvVarSource,
  volumes: readonly Volume[],
): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateFieldRef(v, `${path}.fieldRef`, fieldRef, ENV_FIELDS);
  if (resourceFieldRef) validateResourceFieldRef(v, `${path}.resourceFieldRef`, resourceFieldRef, false);
  for (const kind of ["configMapKeyRef", "secretKeyRef"] as const) {
    const reference = source[kind];
    if (reference === undefined) continue;
    const { name = "", key } = reference;
    v.malformed(`${path}.${kind}.name`, name, checkDnsSubdomain(name));
    if (key === "") v.required(`${path}.${kind}.key`);
    else v.malformed(`${path}.${kind}.key`, key, checkConfigKey(key));
  }
  if (fileKeyRef) validateFileKey(v, `${path}.fileKeyRef`, fileKeyRef, volumes);
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) v.invalid(path, "", "name one source");
  else if (variable.value) v.invalid(path, "", "not together with a value");
  else if (count > 1) v.invalid(path, "", "only one source is allowed");
}

function validateFileKey(
  v: Violations,
  path: string,
  { key, volumeName, path: file }: NonNullable<EnvVarSource["fileKeyRef"]>,
  volumes: readonly Volume[],
): void {
  if (key === "") v.required(`${path}.key`);
  else v.malformed(`${path}.key`, key, checkEnvName(key));
  if (volumeName === "") v.required(`${path}.volumeName`);
  else v.malformed(`${path}.volumeName`, volumeName, checkDnsLabel(volumeName));
  if (file === "") v.required(`${path}.path`);
  else if (hasBackstep(file)) v.invalid(`${path}.path`, file, "must not contain '..'");
  const volume = volumes.findLast((candidate) => candidate.name === volumeName);
  if (volume === undefined) v.notFound(`${path}.volumeName`, volumeName);
  else if (!volume.emptyDir) v.invalid(`${path}.volumeName`, volumeName, "must be an emptyDir volume");
}

export function validateEnvFrom(v: Violations, path: string, sources: NonNullable<FullContainer["envFrom"]>): void {
  sources.forEach((source, index) => {
    const field = `${path}[${index}]`;
    if (source.prefix) v.malformed(`${field}.prefix`, source.prefix, checkEnvName(source.prefix));
    const given = (["configMapRef", "secretRef"] as const).filter((kind) => source[kind] !== undefined);
    for (const kind of given) {
      const name = source[kind]?.name ?? "";
      if (name === "") v.required(`${field}.${kind}.name`);
      else v.malformed(`${field}.${kind}.name`, name, checkDnsSubdomain(maskTrailingDash(name)));
    }
    if (given.length !== 1) v.invalid(path, "", "each entry needs one of configMapRef and secretRef");
  });
}

/** The API server checks these names as if they were prefixes, which may end in "-". */
const maskTrailingDash = (name: string): string =>
  name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
