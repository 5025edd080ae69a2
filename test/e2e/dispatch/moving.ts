/** A moved Job keeps what it achieved. Moves every Job of a cluster, so it has the fleet to itself. */
import { completionIndex } from "@jobferry/shared/job/pods.ts";
import { EPOCH } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { forever } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";

export function moving(fleet: RealFleet): void {
  it("A.12 a drained cluster hands its Jobs over with their counters and completed indexes", async () => {
    const at = await fleet.namespace("moving");
    await at.submit("plain", { spec: { completions: 3, parallelism: 1 }, pod: forever });
    await at.untilActive("plain", 1);
    const from = await at.cluster("plain");
    const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 } as const;
    const here = { "jobferry.dev/cluster-selector": `name=${from}` };
    await at.submit("indexed", { spec: indexed, pod: forever, annotations: here });
    const histories = [await at.follow("plain"), await at.follow("indexed")];
    await Promise.all([at.end("plain", 0), at.end("indexed", 0, 1), at.end("indexed", 3, 2)]);
    await at.until("a success and a failure are counted", async () => {
      const [plain, other] = [await at.job("plain"), await at.job("indexed")];
      return plain?.status?.succeeded === 1 && other?.status?.succeeded === 1 && other.status.failed === 1;
    });
    await at.edit("indexed", { metadata: { annotations: { "jobferry.dev/cluster-selector": null } } });
    await fleet.jobferry("cluster", "drain", from, "--kubeconfig", fleet.hub.kubeconfigPath);
    for (const name of ["plain", "indexed"]) {
      await at.until(`${name} has moved`, async () => !["", from].includes(await at.cluster(name)));
      expect((await at.job(name))?.metadata.annotations?.[EPOCH]).toBe("2");
    }
    await at.until("the old cluster is empty", async () => {
      return (await at.pods("plain")).concat(await at.pods("indexed")).every(({ cluster }) => cluster !== from);
    });
    await Promise.all([at.end("indexed", 0, 0), at.end("indexed", 0, 2), at.end("plain", 0)]);
    expect((await at.pods("indexed")).map(({ pod }) => completionIndex(pod))).not.toContain(1);
    await at.until("the last one runs", async () => (await at.job("plain"))?.status?.succeeded === 2);
    await at.end("plain", 0);
    const [plain, other] = [await at.untilFinished("plain"), await at.untilFinished("indexed")];
    expect(plain.status).toMatchObject({ succeeded: 3 });
    expect(plain.status?.failed ?? 0).toBe(0);
    expect(other.status).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: "0-2" });
    for (const { states } of histories) {
      const counters = states.map(({ status }) => (status?.succeeded ?? 0) * 10 + (status?.failed ?? 0));
      expect(counters).toEqual(counters.toSorted((a, b) => a - b));
    }
    await fleet.jobferry("cluster", "uncordon", from, "--kubeconfig", fleet.hub.kubeconfigPath);
  });
}
