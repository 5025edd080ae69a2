/** Mirrors that somebody deletes by hand. */
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import { forever, type ScenarioFleet } from "./fleet-namespace.ts";

export function mirrors(fleet: ScenarioFleet): void {
  it.concurrent("B an unfinished mirror deleted by hand is created again with exact counters", async () => {
    const at = await fleet.namespace("deleted-mirror");
    const spec = { completionMode: "Indexed", completions: 3, parallelism: 2 } as const;
    const hub = await at.follow("j");
    await at.submit("j", { spec, pod: forever });
    await at.end("j", 0, 0);
    await at.end("j", 3, 1);
    await at.until("one of each", async () => {
      const { succeeded, failed } = (await at.job("j"))?.status ?? {};
      return succeeded === 1 && failed === 1;
    });
    const { cluster, mirror } = await at.mirror("j");
    const key = { namespace: at.mapped, name: "j" };
    await fleet.worker(cluster).api.delete(jobs, key, { propagationPolicy: "Background" });
    await at.until("another mirror", async () => {
      const { mirror: other } = await at.mirror("j");
      return other !== undefined && other.metadata.uid !== mirror?.metadata.uid;
    });
    await at.end("j", 0, 1);
    await at.end("j", 0, 2);
    expect((await at.untilFinished("j")).status).toMatchObject({ succeeded: 3, failed: 1, completedIndexes: "0-2" });
    const counted = hub.values(({ status }) => String((status?.succeeded ?? 0) + (status?.failed ?? 0)));
    expect(counted).toEqual(counted.toSorted());
  });
}
