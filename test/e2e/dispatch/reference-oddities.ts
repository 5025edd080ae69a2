/** Objects of the hub that are allowed and rare, and rights that come and go, on real control planes. */
import type { PodSpec } from "@jobferry/shared/job/types.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import { outputOf } from "../../harness/run-command.ts";
import { forever } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";
import { allowSecrets, copiesOn, onEast, sealed } from "./reference-fleet.ts";

const main = (fields: object): Partial<PodSpec> => ({ containers: [{ name: "main", image: "none", ...fields }] });

export function referenceOddities(fleet: RealFleet): void {
  it.concurrent("odd keys, names of 253 characters, an immutable original, text that grows sixfold on its way", async () => {
    const at = await fleet.namespace("odd");
    const [one, two] = ["1", "2"].map((end) => `${"n".repeat(252)}${end}`) as [string, string];
    const keys = '{"a..b":"f","10":"d","9":"e","__proto__":"a"}';
    const create = (name: string, rest: object) =>
      fleet.hub.api.create(configMaps, at.name, { metadata: { name }, ...rest });
    await create("keys", { data: JSON.parse(keys), immutable: true });
    await create("control", { data: { text: "\u0001".repeat(400_000) } });
    await create("empty", {});
    for (const name of [one, two]) await create(name, { data: { same: "contents" } });
    const names = ["keys", "control", "empty", one, two];
    const spec = {
      ...main({ volumeMounts: [{ name: "all", mountPath: "/all", subPath: "9" }] }),
      volumes: [
        {
          name: "all",
          projected: {
            defaultMode: 0o400,
            sources: names.map((name, index) => ({
              configMap: { name, ...(index === 0 ? { items: [{ key: "9", path: "9" }] } : { optional: true }) },
            })),
          },
        },
      ],
    };
    await at.submit("j", { ...onEast, pod: { ...forever, spec } });
    await at.untilActive("j", 1);
    const copies = await copiesOn(at, "east", configMaps);
    expect(copies).toHaveLength(names.length);
    const copyOf = (name: string) => copies.find(({ metadata }) => metadata.name?.startsWith(`${name}-`));
    expect(Object.entries(copyOf("keys")?.data ?? {}).sort()).toEqual(Object.entries(JSON.parse(keys)).sort());
    expect(copyOf("control")?.data?.text?.length).toBe(400_000);
    const [{ pod } = { pod: undefined }] = await at.pods("j");
    for (const { metadata } of copies) expect(JSON.stringify(pod?.spec)).toContain(`"${metadata.name}"`);
    expect((await at.events("j")).filter(({ reason }) => reason === "CopyChanged")).toEqual([]);
    await at.delete("j");
    await at.until("no copy is left", async () => (await copiesOn(at, "east", configMaps)).length === 0);
  });

  it.concurrent("a right that is withdrawn after the Job was assigned: it is taken back, says so, and goes on once bound", async () => {
    const at = await fleet.namespace("withdrawn");
    await allowSecrets(fleet, at);
    await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data: { k: "eA==" } });
    // The worker's own: a Job that was given less than it needs would use it.
    await fleet.worker("east").api.create(secrets, at.mapped, { metadata: { name: "login" }, data: { k: "eQ==" } });
    const spec = main({ envFrom: [{ secretRef: { name: "login" } }] });
    await fleet.kill("east");
    await at.submit("j", { ...onEast, labels: sealed, pod: { ...forever, spec } });
    await at.until(
      "it is assigned",
      async () => (await at.job("j"))?.metadata.annotations?.["jobferry.dev/cluster"] === "east",
    );
    await outputOf(fleet.hub.kubectl("delete", "rolebinding", "jobferry-references", "-n", at.name));
    fleet.startAgent("east");
    await at.untilMessage("j", /waiting: Secret withdrawn\/login may not be read by the manager: kubectl create role/);
    expect(await at.pods("j")).toEqual([]);
    await allowSecrets(fleet, at);
    await at.untilActive("j", 1);
    expect((await copiesOn(at, "east", secrets)).map(({ data }) => data)).toEqual([{ k: "eA==" }]);
    await at.delete("j");
  });

  it.concurrent("a cluster that takes no Secrets does not refuse what is optional", async () => {
    const at = await fleet.namespace("optional");
    await outputOf(fleet.worker("west").kubectl("apply", "-k", "deploy/worker-roles/namespace", "-n", at.mapped));
    await allowSecrets(fleet, at);
    await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data: { k: "eA==" } });
    const spec = { ...main({}), imagePullSecrets: [{ name: "login" }] };
    const onWest = { annotations: { "jobferry.dev/cluster-selector": "name=west" } };
    await at.submit("j", { ...onWest, labels: sealed, pod: { ...forever, spec } });
    await at.untilActive("j", 1);
    await at.delete("j");
  });
}
