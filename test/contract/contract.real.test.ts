/**
 * What our code and kubectl rely on, asked of a real API server and of the sandbox in the same words. A disagreement is a
 * bug of the sandbox.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { localCluster } from "../harness/real-cluster.ts";
import { sandboxCluster } from "../harness/sandbox-cluster.ts";
import { ownersAndNamespaces } from "./behaviour/collection.ts";
import { customResources } from "./behaviour/custom-resources.ts";
import { discovery } from "./behaviour/discovery.ts";
import { kubectl } from "./behaviour/kubectl.ts";
import { listing } from "./behaviour/listing.ts";
import { identitiesAndLocking } from "./behaviour/locking.ts";
import { bookmarks, expiry, watching } from "./behaviour/watching.ts";
import { playScenario } from "./exchange.ts";
import { badBodies, badPatches, badQueries } from "./exchanges/bad-input.ts";
import { defaults, jobRules, patches, statuses } from "./exchanges/life.ts";
import { output } from "./exchanges/output.ts";
import { dryRun, removal } from "./exchanges/removal.ts";
import { Subject } from "./subject.ts";

const subjects = {
  "real API server": new Subject({
    kind: "real",
    speaksHttp: true,
    async start() {
      const cluster = await localCluster({ controllers: ["garbage-collector-controller", "namespace-controller"] });
      return { cluster, forgetHistory: () => cluster.restartApiServer() };
    },
  }),
  sandbox: new Subject({
    kind: "sandbox",
    speaksHttp: true,
    async start() {
      const cluster = await sandboxCluster({ kubelet: "none" });
      return { cluster, forgetHistory: () => cluster.sandbox.compact() };
    },
  }),
  "sandbox in process": new Subject({
    kind: "sandbox",
    speaksHttp: false,
    async start() {
      const cluster = await sandboxCluster({ kubelet: "none" });
      return { cluster, api: cluster.sandbox.api, forgetHistory: () => cluster.sandbox.compact() };
    },
  }),
};

const scenarios = [badBodies, badPatches, badQueries, defaults, patches, statuses, jobRules, removal, dryRun, output];
const throughTheApi = [identitiesAndLocking, listing, watching, ownersAndNamespaces, customResources];
const overHttp = [discovery, kubectl];

describe.each(Object.entries(subjects))("%s", (_, subject) => {
  beforeAll(() => subject.start());
  afterAll(() => subject.stop());

  const early = bookmarks(subject);
  for (const section of throughTheApi) section(subject);
  if (subject.speaksHttp) {
    for (const section of overHttp) section(subject);
    for (const scenario of scenarios) playScenario(subject, scenario);
  }
  early.check();
  expiry(subject);
});
