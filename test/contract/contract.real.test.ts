/**
 * What our code and kubectl rely on, asked of a real API server and of the sandbox in the same words. A disagreement is a
 * bug of the sandbox.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { realCluster } from "../harness/real-cluster.ts";
import { sandboxCluster } from "../harness/sandbox-cluster.ts";
import { playScenario } from "./exchange.ts";
import { badBodies, badPatches, badQueries } from "./exchanges/bad-input.ts";
import { defaults, jobRules, patches, statuses } from "./exchanges/life.ts";
import { output } from "./exchanges/output.ts";
import { dryRun, removal } from "./exchanges/removal.ts";
import { Subject } from "./subject.ts";

const clusters = [
  {
    name: "real API server",
    kind: "real" as const,
    start: () => realCluster({ controllers: ["garbage-collector-controller", "namespace-controller"] }),
  },
  { name: "sandbox", kind: "sandbox" as const, start: () => sandboxCluster({ kubelet: "none" }) },
];

describe.each(clusters)("$name", ({ kind, start }) => {
  const subject = new Subject(kind);
  beforeAll(() => subject.start(start));
  afterAll(() => subject.stop());

  const scenarios = [badBodies, badPatches, badQueries, defaults, patches, statuses, jobRules, removal, dryRun, output];
  for (const scenario of scenarios) playScenario(subject, scenario);
});
