/** Section A of the scenarios on the simulated fleet: what the real one is asked in test/e2e/dispatch. */
import type { Pod } from "@jobferry/shared/job/types.ts";
import { namespaces } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, vi } from "vitest";
import { changes } from "../e2e/dispatch/changes.ts";
import { EXIT_CODE, FleetNamespace, RUN, type ScenarioFleet, type WorkerPod } from "../e2e/dispatch/fleet-namespace.ts";
import { mirrors } from "../e2e/dispatch/mirrors.ts";
import { neighbours } from "../e2e/dispatch/neighbours.ts";
import { outcomes } from "../e2e/dispatch/outcomes.ts";
import { Fleet } from "./fleet.ts";

// They share one clock, and only one of them can turn it.
vi.setConfig({ maxConcurrency: 1 });

/** What the stand-in kubelet of the real fleet makes of the annotations. */
const run = ({ metadata: { annotations = {} } }: Pod) => ({
  runMs: annotations[RUN] === "forever" ? Number.POSITIVE_INFINITY : 0,
  exitCode: Number(annotations[EXIT_CODE] ?? 0),
});

class SimulatedFleet implements ScenarioFleet {
  readonly #fleet = new Fleet({ behaviour: run });
  readonly #attached: { stop(): Promise<void> }[] = [];
  readonly clock = this.#fleet.clock;
  readonly hub = this.#fleet.hub;

  get workers() {
    return new Map([...this.#fleet.workers].map(([name, { cluster }]) => [name, cluster]));
  }

  worker(name: string) {
    const worker = this.#fleet.workers.get(name);
    if (worker === undefined) throw new Error(`no worker ${name}`);
    return worker.cluster;
  }

  async start(): Promise<void> {
    await this.#fleet.start();
  }

  async namespace(name: string): Promise<FleetNamespace> {
    for (const { api } of [this.hub, ...this.workers.values()])
      await api.create(namespaces, undefined, { metadata: { name } });
    return new FleetNamespace(this, name);
  }

  mapped(namespace: string): string {
    return namespace;
  }

  attach(part: { stop(): Promise<void> }): void {
    this.#attached.push(part);
  }

  until(what: string, holds: () => Promise<boolean>): Promise<void> {
    return this.#fleet.until(holds).catch((error: Error) => {
      throw new Error(`${what}: ${error.message}`);
    });
  }

  podEnded({ cluster, pod }: WorkerPod, exitCode: number): void {
    this.worker(cluster).nodes?.finish(pod.metadata.uid ?? "", exitCode);
  }

  async stop(): Promise<void> {
    for (const part of this.#attached) await part.stop();
    await this.#fleet.stop();
  }
}

const fleet = new SimulatedFleet();
beforeAll(() => fleet.start());
afterAll(() => fleet.stop());

outcomes(fleet);
changes(fleet);
neighbours(fleet);
mirrors(fleet);
