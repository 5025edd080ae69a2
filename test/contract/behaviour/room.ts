import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeObject, Resource } from "@jobferry/shared/kube/api.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { Capacity } from "@jobferry/worker-agent/capacity/capacity.ts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { pod } from "../objects.ts";
import type { Subject } from "../subject.ts";

interface Node extends KubeObject {
  status: object;
}
const nodes: Resource<Node> = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

const NODE = "harbour";
/** Nobody else here has any. */
const BERTHS = "example.com/berths";

/** The agent counts by what a watch with a field selector tells it: who comes, who stays, and who no longer fits the selector. */
export function roomIsCounted(subject: Subject): void {
  describe("the room that the agent counts", () => {
    const end = new AbortController();
    let capacity: Capacity;
    let counting: Promise<void>;
    let namespace: string;

    const create = (name: string, berths: string, nodeName?: string): Promise<Pod> => {
      const amounts = { [BERTHS]: berths, cpu: "100m" };
      const containers = [{ name: "main", image: "busybox", resources: { requests: amounts, limits: amounts } }];
      const where = nodeName === undefined ? {} : { nodeName };
      return subject.api.create(pods, namespace, pod(name, { ...where, containers }) as Pod);
    };
    const setPhase = (name: string, phase: string): Promise<Pod> =>
      subject.api.patch(
        pods,
        { namespace, name },
        { type: "merge", body: { status: { phase } } },
        { subresource: "status" },
      );
    const free = (): unknown => capacity.report().free[BERTHS];
    const isFree = (berths: string): Promise<void> => vi.waitFor(() => expect(free()).toBe(berths), 10_000);

    beforeAll(async () => {
      namespace = await subject.newNamespace();
      const allocatable = { [BERTHS]: "10", cpu: "4" };
      const status = { allocatable, capacity: allocatable };
      await subject.api.create(nodes, undefined, { metadata: { name: NODE }, status });
      capacity = new Capacity({ api: subject.api, clock: realClock, random: Math.random, logger: silentLogger });
      counting = capacity.start(end.signal);
      await capacity.whenSynced();
    });
    afterAll(async () => {
      end.abort();
      await counting;
    });

    it("is all of a node without pods", () => expect(free()).toBe("10"));

    it("is less by what bound pods ask for, until they end or are gone", async () => {
      await create("unbound", "5");
      await create("ends", "3", NODE);
      await isFree("7");
      await create("goes", "2", NODE);
      await isFree("5");
      await setPhase("goes", "Running");
      await setPhase("ends", "Succeeded");
      await isFree("8");
      await subject.api.delete(pods, { namespace, name: "goes" }, { gracePeriodSeconds: 0 });
      await isFree("10");
    });

    if (subject.kind === "real")
      it("follows a pod that is resized", async () => {
        const cpu = (): unknown => capacity.report().free.cpu;
        await create("grows", "1", NODE);
        await vi.waitFor(() => expect(cpu()).toBe("3900m"), 10_000);
        const { status, text } = await subject.cluster.request(`/api/v1/namespaces/${namespace}/pods/grows/resize`, {
          method: "PATCH",
          headers: { "content-type": "application/strategic-merge-patch+json" },
          body: JSON.stringify({
            spec: { containers: [{ name: "main", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } }] },
          }),
        });
        expect(status, text).toBe(200);
        await vi.waitFor(() => expect(cpu()).toBe("3000m"), 10_000);
        await subject.api.delete(pods, { namespace, name: "grows" }, { gracePeriodSeconds: 0 });
        await vi.waitFor(() => expect(cpu()).toBe("4000m"), 10_000);
      });
  });
}
