/** A hub on which writes of pods take long, in a flood of Jobs, on a simulated fleet. */
import { DEFAULT_POD_SETTINGS } from "@jobferry/manager/pods/settings.ts";
import type { Pod } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { WORKER_POD } from "@jobferry/shared/protocol/marks.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

let fleet: Fleet;
afterEach(() => fleet.stop());

const WRITE_MS = 300;

/** Everything but writes of pods is as fast as ever. */
const slowForPods = (api: KubeApi, clock: Clock): KubeApi => ({
  ...boundTo(api),
  async create(resource, ...rest) {
    if (resource.plural === pods.plural) await sleep(clock, WRITE_MS);
    return api.create(resource, ...rest);
  },
  async replace(resource, ...rest) {
    if (resource.plural === pods.plural) await sleep(clock, WRITE_MS);
    return api.replace(resource, ...rest);
  },
});

const boundTo = (api: KubeApi): KubeApi => ({
  get: (...args) => api.get(...args),
  list: (...args) => api.list(...args),
  watch: (...args) => api.watch(...args),
  create: (...args) => api.create(...args),
  replace: (...args) => api.replace(...args),
  patch: (...args) => api.patch(...args),
  delete: (...args) => api.delete(...args),
});

async function shadowOf(job: string): Promise<Pod | undefined> {
  const { items } = await fleet.hub.api.list(pods, { namespace: "default", labelSelector: `job-name=${job}` });
  return items[0];
}

it("who sees the end of a Job can read the logs of its pods: their shadows do not stand in line behind those of others", async () => {
  fleet = await new Fleet({
    ...{ workers: ["east"], pods: DEFAULT_POD_SETTINGS, managerApi: slowForPods },
    nodes: { east: [{ name: "large", cpu: "1000", memory: "1Ti", pods: 1_000 }] },
    // The others go on.
    behaviour: ({ metadata }) => ({ runMs: metadata.name?.startsWith("mine") ? 3_000 : 600_000 }),
  }).start();
  for (let job = 0; job < 150; job++) await fleet.submit(`other-${job}`);
  await fleet.clock.advance(500);
  await fleet.submit("mine");
  await fleet.untilFinished("mine");
  const shadow = await shadowOf("mine");
  expect(shadow?.metadata.annotations?.[WORKER_POD]).toMatch(/^mine-/);
  expect(shadow?.status?.phase).toBe("Succeeded");
  // There was a line to stand in.
  expect((await shadowOf("other-149"))?.metadata.annotations?.[WORKER_POD]).toBeUndefined();
});
