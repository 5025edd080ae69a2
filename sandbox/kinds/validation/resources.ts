/** Requests, limits and claims. */
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from "@jobferry/shared/job/names.ts";
import { compareQuantities, milliValue } from "@jobferry/shared/job/quantity.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec, Quantities, ResourceRequirements } from "../../schema/pod-types.ts";

const CONTAINER_RESOURCES = ["cpu", "memory", "ephemeral-storage"];
export const HUGE_PAGES = "hugepages-";
const QUOTA_ONLY_RESOURCES = new Set(
  `requests.cpu requests.memory requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage pods
  resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims storage requests.storage
  services.nodeports services.loadbalancers`.split(/\s+/),
);

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);
const isNative = (name: string): boolean => !name.includes("/") || name.includes("kubernetes.io/");
const mayOvercommit = (name: string): boolean => isNative(name) && !isHugePages(name);
const isExtended = (name: string): boolean =>
  !isNative(name) && !name.startsWith("requests.") && checkQualifiedName(`requests.${name}`).length === 0;
const COUNTED = new Set(
  `pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports
  services.loadbalancers`.split(/\s+/),
);
const isCounted = (name: string): boolean => COUNTED.has(name) || isExtended(name);

type NameCheck = (v: Violations, field: string, name: string) => void;

export function validateResources(
  v: Violations,
  path: string,
  resources: ResourceRequirements,
  podClaims: ReadonlySet<string>,
  checkName: NameCheck = validateContainerResourceName,
): void {
  const { limits = {}, requests = {}, claims = [] } = resources;
  validateAmounts(v, `${path}.limits`, limits, checkName);
  validateAmounts(v, `${path}.requests`, requests, checkName);
  for (const [name, request] of Object.entries(requests)) validateRequest(v, path, name, request, limits[name]);
  const names = [...Object.keys(limits), ...Object.keys(requests)];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    v.forbidden(path, "huge pages need cpu or memory beside them");
  }
  validateClaimReferences(v, `${path}.claims`, claims, podClaims);
}

function validateRequest(v: Violations, path: string, name: string, request: string, limit: string | undefined): void {
  if (limit === undefined) {
    if (!mayOvercommit(name)) v.required(`${path}.limits`, `${name} needs a limit`);
    return;
  }
  const order = compareQuantities(request, limit);
  if (order !== 0 && !mayOvercommit(name))
    v.invalid(`${path}.requests`, request, `must equal the ${name} limit of ${limit}`);
  else if (order > 0) v.invalid(`${path}.requests`, request, `must not exceed the ${name} limit of ${limit}`);
}

function validateAmounts(v: Violations, path: string, amounts: Quantities, checkName: NameCheck): void {
  for (const [name, amount] of Object.entries(amounts)) {
    const field = `${path}[${name}]`;
    checkName(v, field, name);
    if (compareQuantities(amount, "0") < 0) v.invalid(field, amount, "must not be negative");
    if (isCounted(name) && (milliValue(amount) ?? 0n) % 1000n !== 0n) v.invalid(field, amount, "must be an integer");
    if (isHugePages(name) && !isWholePages(name, amount)) v.invalid(field, amount, `must be a multiple of ${name}`);
  }
}

function isWholePages(name: string, amount: string): boolean {
  const page = milliValue(name.slice(HUGE_PAGES.length)) ?? 0n;
  return page > 0n && page % 1000n === 0n && (milliValue(amount) ?? 0n) % page === 0n;
}

export function validateResourceName(v: Violations, field: string, name: string): boolean {
  const complaints = checkQualifiedName(name);
  v.malformed(field, name, complaints);
  if (complaints.length > 0) return false;
  const standard =
    CONTAINER_RESOURCES.includes(name) || QUOTA_ONLY_RESOURCES.has(name) || /^(requests\.)?hugepages-/.test(name);
  if (name.includes("/") || standard) return true;
  v.invalid(field, name, "must be a standard resource, or have a domain prefix");
  return false;
}

function validateContainerResourceName(v: Violations, field: string, name: string): void {
  validateResourceName(v, field, name);
  if (!name.includes("/")) {
    if (!CONTAINER_RESOURCES.includes(name) && !isHugePages(name))
      v.invalid(field, name, "is not a resource of containers");
  } else if (!isNative(name) && !isExtended(name)) v.invalid(field, name, "is not an extended resource name");
}

export function validateResourceClaims(
  v: Violations,
  path: string,
  claims: NonNullable<FullPodSpec["resourceClaims"]>,
): void {
  const names = new Set<string>();
  claims.forEach(({ name, resourceClaimName, resourceClaimTemplateName }, index) => {
    const field = `${path}[${index}]`;
    if (name === "") v.required(`${field}.name`);
    else if (names.has(name)) v.duplicate(`${field}.name`, name);
    else v.malformed(`${field}.name`, name, checkDnsLabel(name));
    names.add(name);
    if ((resourceClaimName === undefined) === (resourceClaimTemplateName === undefined)) {
      v.invalid(field, name, "give exactly one of resourceClaimName and resourceClaimTemplateName");
    }
    if (resourceClaimName !== undefined) {
      v.malformed(`${field}.resourceClaimName`, resourceClaimName, checkDnsSubdomain(resourceClaimName));
    }
    if (resourceClaimTemplateName !== undefined) {
      const template = resourceClaimTemplateName;
      v.malformed(`${field}.resourceClaimTemplateName`, template, checkDnsSubdomain(template));
    }
  });
}

function validateClaimReferences(
  v: Violations,
  path: string,
  claims: NonNullable<ResourceRequirements["claims"]>,
  podClaims: ReadonlySet<string>,
): void {
  const seen: { name: string; request: string }[] = [];
  claims.forEach(({ name, request = "" }, index) => {
    const field = `${path}[${index}]`;
    if (name === "") {
      v.required(field);
      return;
    }
    const overlaps = seen.filter(
      (other) => other.name === name && (request === "" || other.request === "" || other.request === request),
    );
    for (const _ of overlaps.some((other) => other.request === request) ? overlaps.slice(0, 1) : overlaps)
      v.duplicate(field, name);
    if (request !== "") v.malformed(`${field}.request`, request, checkDnsLabel(request));
    seen.push({ name, request });
    if (!podClaims.has(name)) v.notFound(field, name, "must be one of the pod's resourceClaims");
  });
}
