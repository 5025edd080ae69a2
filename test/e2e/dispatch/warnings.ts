/** What goes wrong with pods on a worker is told on the hub, where the submitter looks, and in few words. */
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { events, type KubeEvent } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { expect, it } from "vitest";
import { forever } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";

/** As scheduler and kubelet say it; nothing on these clusters does. */
const WARNINGS = {
  FailedScheduling: "0/3 nodes are available: 3 Insufficient cpu.",
  Failed: 'Failed to pull image "none": not found',
  BackOff: "Back-off restarting failed container main",
  FailedMount: 'MountVolume.SetUp failed for volume "data": secret "data" not found',
};

export function warnings(fleet: RealFleet): void {
  it.concurrent("100 warnings about the pods of a Job become four events on the hub", async () => {
    const at = await fleet.namespace("warnings");
    const writes: KubeEvent[] = [];
    const reflector = new Reflector({ api: fleet.hub.api, clock: realClock, resource: events, namespace: at.name });
    reflector.addHandler({ added: (event) => writes.push(event), updated: (_, event) => writes.push(event) });
    const stop = new AbortController();
    const watching = reflector.start(stop.signal);
    fleet.attach({
      stop: () => {
        stop.abort();
        return watching;
      },
    });
    await at.submit("j", { spec: { parallelism: 5, completions: 5 }, pod: forever });
    await at.untilActive("j", 5);
    for (const [reason, message] of Object.entries(WARNINGS))
      for (const { cluster, pod } of await at.pods("j"))
        for (let i = 0; i < 5; i++) {
          const { name = "", uid = "", namespace = "" } = pod.metadata;
          await fleet.worker(cluster).api.create(events, namespace, {
            metadata: { generateName: `${name}.` },
            involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name, uid },
            type: "Warning",
            reason,
            message,
            count: 1,
          });
        }
    const passedOn = async () => (await at.events("j")).filter(({ type }) => type === "Warning");
    await at.until("each kind is on the hub", async () => {
      return new Set((await passedOn()).map(({ reason }) => reason)).size === Object.keys(WARNINGS).length;
    });
    const { cluster } = await at.mirror("j");
    const told = await passedOn();
    for (const [reason, message] of Object.entries(WARNINGS)) {
      const about = told.filter((event) => event.reason === reason);
      expect(about).toHaveLength(1);
      expect(about[0]?.message).toContain(`[${cluster}] Pod j-`);
      expect(about[0]?.message).toContain(message);
    }
    expect(writes.filter(({ type }) => type === "Warning").length).toBeLessThanOrEqual(12);
  });
}
