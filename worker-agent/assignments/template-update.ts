import type { Container, PodSpec, PodTemplate } from "@jobferry/shared/job/types.ts";

/** Of the pod spec, what may change as a whole while the Job is suspended (VU-8); containers may change their resources. */
const SCHEDULING = ["nodeSelector", "affinity", "tolerations", "schedulingGates"] as const;

type Json = Readonly<Record<string, unknown>>;

/** The merge patch that brings a suspended mirror's pod template up to the hub's; neither has the generated labels. */
export function templateUpdate(mirror: PodTemplate, hub: PodTemplate): object {
  const containers = ["containers", "initContainers"].flatMap((field) => {
    const [before, after] = [listOf(mirror.spec, field), listOf(hub.spec, field)];
    const wanted = before.map((container) => withResourcesOf(container, after));
    return difference({ [field]: before }, { [field]: wanted }) === undefined ? [] : [[field, wanted]];
  });
  return {
    metadata: difference(
      pick(mirror.metadata, ["labels", "annotations"]),
      pick(hub.metadata, ["labels", "annotations"]),
    ),
    spec: {
      ...difference(pick(mirror.spec, SCHEDULING), pick(hub.spec, SCHEDULING)),
      ...Object.fromEntries(containers),
    },
  };
}

const listOf = (spec: PodSpec, field: string): readonly Container[] => (spec[field] as Container[] | undefined) ?? [];

function withResourcesOf(container: Container, hub: readonly Container[]): Container {
  const same = hub.find(({ name }) => name === container.name);
  if (same === undefined) return container;
  const { resources: _, ...rest } = container;
  return same.resources === undefined ? rest : { ...rest, resources: same.resources };
}

const pick = (object: object | undefined, fields: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object ?? {}).filter(([field]) => fields.includes(field)));

/** The merge patch (RFC 7396) that makes `before` be `after`; undefined when they are equal. Lists are replaced whole. */
function difference(before: Json, after: Json): Json | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before[key], after[key]];
    if (other === undefined) patch[key] = null;
    else if (isObject(one) && isObject(other)) {
      const inner = difference(one, other);
      if (inner !== undefined) patch[key] = inner;
    } else if (JSON.stringify(one) !== JSON.stringify(other)) patch[key] = other;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
