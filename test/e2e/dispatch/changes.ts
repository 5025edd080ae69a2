/** A.5 and A.6: edits of the hub Job act on the mirror. */
import { expect, it } from "vitest";
import { conditionsOf, type FleetNamespace, forever, type ScenarioFleet } from "./fleet-namespace.ts";

const untilSuspended = (at: FleetNamespace, name: string): Promise<void> =>
  at.until("suspended", async () => conditionsOf(await at.job(name))[0] === "Suspended=True/JobSuspended");

export function changes(fleet: ScenarioFleet): void {
  it.concurrent("A.5 suspended at first, resumed, suspended while it runs, resumed again", async () => {
    const at = await fleet.namespace("suspend");
    await at.submit("s", { spec: { suspend: true }, pod: forever });
    await untilSuspended(at, "s");
    expect(await at.mirror("s")).toEqual({ cluster: "", mirror: undefined });
    await at.edit("s", { spec: { suspend: false } });
    await at.untilActive("s", 1);
    const first = await at.cluster("s");
    await at.edit("s", { spec: { suspend: true } });
    await untilSuspended(at, "s");
    const { startTime, active = 0 } = (await at.job("s"))?.status ?? {};
    expect({ startTime, active }).toEqual({ startTime: undefined, active: 0 });
    await at.until("its pod is gone", async () => (await at.pods("s")).length === 0);
    await at.edit("s", { spec: { suspend: false } });
    await at.untilActive("s", 1);
    expect(await at.cluster("s")).toBe(first);
    expect(conditionsOf(await at.job("s"))).toEqual(["Suspended=False/JobResumed"]);
  });

  it.concurrent("A.5 completed indexes outlast a suspension", async () => {
    const at = await fleet.namespace("suspend-indexed");
    await at.submit("s", { spec: { completionMode: "Indexed", completions: 2, parallelism: 2 }, pod: forever });
    await at.end("s", 0, 1);
    await at.until("index 1 is done", async () => (await at.job("s"))?.status?.completedIndexes === "1");
    await at.edit("s", { spec: { suspend: true } });
    await untilSuspended(at, "s");
    expect((await at.job("s"))?.status).toMatchObject({ succeeded: 1, completedIndexes: "1" });
    await at.edit("s", { spec: { suspend: false } });
    await at.end("s", 0, 0);
    expect((await at.untilFinished("s")).status).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
  });

  it.concurrent("A.6 parallelism and an elastic Indexed Job follow the hub while they run", async () => {
    const at = await fleet.namespace("elastic");
    await at.submit("elastic", { spec: { completionMode: "Indexed", completions: 2, parallelism: 2 }, pod: forever });
    await at.submit("fixed", { spec: { completions: 4, parallelism: 1 }, pod: forever });
    await at.untilActive("elastic", 2);
    await at.edit("elastic", { spec: { completions: 3, parallelism: 3 } });
    await at.untilActive("elastic", 3);
    await at.edit("elastic", { spec: { completions: 1, parallelism: 1 } });
    await at.untilActive("elastic", 1);
    await at.untilActive("fixed", 1);
    await at.edit("fixed", { spec: { parallelism: 3 } });
    await at.untilActive("fixed", 3);
    await at.edit("fixed", { spec: { parallelism: 2 } });
    await at.untilActive("fixed", 2);
  });

  // Of labels that the nodes have: placement looks at them.
  const [os, arch] = [{ "kubernetes.io/os": "linux" }, { "kubernetes.io/arch": "amd64" }];
  const before = { nodeSelector: os, tolerations: [{ key: "old", operator: "Exists" }] };
  const after = {
    nodeSelector: { ...arch, "kubernetes.io/os": null },
    tolerations: [{ key: "new", operator: "Exists" }],
  };
  it.concurrent.each([
    ["and then resumed", false],
    ["and resumed with the same edit", true],
  ])("A.6 scheduling fields of the pod template changed while suspended, %s", async (_, atOnce) => {
    const at = await fleet.namespace(`template-${atOnce}`);
    await at.submit("t", { pod: { ...forever, spec: before } });
    await at.untilActive("t", 1);
    await at.edit("t", { spec: { suspend: true } });
    await untilSuspended(at, "t");
    const template = { metadata: { labels: { tier: "new" } }, spec: after };
    await at.edit("t", { spec: { template, ...(atOnce ? { suspend: false } : {}) } });
    if (!atOnce) await at.edit("t", { spec: { suspend: false } });
    await at.untilActive("t", 1);
    const running = (await at.pods("t")).find(({ pod }) => pod.metadata.deletionTimestamp === undefined);
    expect(running?.pod.metadata.labels?.tier).toBe("new");
    expect(running?.pod.spec.nodeSelector).toEqual(arch);
    expect(running?.pod.spec.tolerations).toContainEqual({ key: "new", operator: "Exists" });
    expect(running?.pod.spec.tolerations).not.toContainEqual({ key: "old", operator: "Exists" });
  });
}
