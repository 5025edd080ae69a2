import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

interface Manifest {
  kind: string;
  spec: {
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    podSelector: { matchLabels: Record<string, string> };
    policyTypes: string[];
    ingress: { from?: object[]; ports?: { port: number }[] }[];
  };
}
interface PodSpec {
  securityContext: object;
  containers: {
    securityContext: object;
    env?: { name: string; value?: string }[];
    resources: { limits: { memory: string } };
  }[];
}

const read = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(new URL(`../../deploy/${file}`, import.meta.url), "utf8")).map(
    (document) => document.toJS() as Manifest,
  );
const deploymentOf = (folder: string): Manifest["spec"]["template"] => {
  const found = read(`${folder}/deployment.yaml`).find(({ kind }) => kind === "Deployment");
  if (found === undefined) throw new Error(`deploy/${folder} has no Deployment`);
  return found.spec.template;
};

it.each(["hub", "worker", "job-controller"])("the pods of deploy/%s meet PodSecurity restricted", (folder) => {
  const { spec } = deploymentOf(folder);
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
  for (const { securityContext } of spec.containers)
    expect(securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
});

it.each(["hub", "worker"])("the heap of deploy/%s ends below the memory limit", (folder) => {
  for (const { env = [], resources } of deploymentOf(folder).spec.containers) {
    const { value = "" } = env.find(({ name }) => name === "NODE_OPTIONS") ?? {};
    const heapMiB = Number(/^--max-old-space-size=(\d+)$/.exec(value)?.[1]);
    expect(resources.limits.memory).toBe("1Gi");
    expect(heapMiB).toBeLessThanOrEqual(1024 * 0.8);
  }
});

it.each([
  ["hub", "readers of metrics, and at the port of logs those who have a ticket", [8443]],
  ["worker", "readers of metrics", []],
])("the pods of deploy/%s are reached by nobody but %s", (folder, _, open) => {
  const policy = read(`${folder}/network.yaml`).find(({ kind }) => kind === "NetworkPolicy");
  const { labels } = deploymentOf(folder).metadata;
  expect(labels).toMatchObject(policy?.spec.podSelector.matchLabels ?? { none: "" });
  expect(policy?.spec.policyTypes).toEqual(["Ingress", "Egress"]);
  const rules = policy?.spec.ingress ?? [];
  for (const { from } of rules) if (from !== undefined) expect(from).toHaveLength(1);
  expect(rules.filter(({ from }) => from === undefined).flatMap(({ ports }) => ports?.map(({ port }) => port))).toEqual(
    open,
  );
});
