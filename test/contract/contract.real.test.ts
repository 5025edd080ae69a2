/**
 * What our code and kubectl rely on, asked of a real API server and of the sandbox in the same words. A disagreement is a
 * bug of the sandbox.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { localCluster } from "../harness/real-cluster.ts";
import { sandboxCluster } from "../harness/sandbox-cluster.ts";
import { admission } from "./behaviour/admission.ts";
import { ownersAndNamespaces } from "./behaviour/collection.ts";
import { customResources } from "./behaviour/custom-resources.ts";
import { discovery } from "./behaviour/discovery.ts";
import { kubectl } from "./behaviour/kubectl.ts";
import { leanPodsAreTheSame } from "./behaviour/lean-pods.ts";
import { listing } from "./behaviour/listing.ts";
import { identitiesAndLocking } from "./behaviour/locking.ts";
import { roomIsCounted } from "./behaviour/room.ts";
import { bookmarks, expiry, watching } from "./behaviour/watching.ts";
import { playScenario } from "./exchange.ts";
import { badBodies } from "./exchanges/bad-bodies.ts";
import { badPatches } from "./exchanges/bad-patches.ts";
import { badQueries } from "./exchanges/bad-queries.ts";
import { defaults } from "./exchanges/defaults.ts";
import { jobRules } from "./exchanges/job-rules.ts";
import { output } from "./exchanges/output.ts";
import { patches } from "./exchanges/patches.ts";
import { dryRun, removal } from "./exchanges/removal.ts";
import { statuses } from "./exchanges/statuses.ts";
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
const throughTheApi = [
  identitiesAndLocking,
  listing,
  watching,
  leanPodsAreTheSame,
  roomIsCounted,
  ownersAndNamespaces,
  customResources,
  admission,
];
const overHttp = [discovery, kubectl];

// All at once, because a watch of `bookmarks` takes its time.
beforeAll(async () => {
  await Promise.all(Object.values(subjects).map((subject) => subject.start()));
});
afterAll(async () => {
  await Promise.all(Object.values(subjects).map((subject) => subject.stop()));
});

for (const [name, subject] of Object.entries(subjects)) {
  const early = bookmarks(subject);
  describe(name, () => {
    for (const section of throughTheApi) section(subject);
    if (subject.speaksHttp) {
      for (const section of overHttp) section(subject);
      for (const scenario of scenarios) playScenario(subject, scenario);
    }
    early.check();
    expiry(subject);
  });
}
