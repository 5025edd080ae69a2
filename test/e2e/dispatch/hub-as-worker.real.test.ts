/** A.10: the hub is its own worker, and mixes local with dispatched Jobs. */
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_UID_LABEL, MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet({ namespacePrefix: "ferry-" });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

it("a namespace that the worker does not have is a typed refusal on the hub Job", async () => {
  await fleet.submit("early");
  const message = async () => (await fleet.job("early"))?.metadata.annotations?.[MESSAGE] ?? "";
  await fleet.until("refused", async () => (await message()).includes("NamespaceMissing"));
  expect(await message()).toContain("namespace ferry-default does not exist on this cluster");
  await fleet.hub.kubectl("create", "namespace", "ferry-default");
  expect((await fleet.untilFinished("early")).status?.succeeded).toBe(1);
});

it("the mirror lives in the mapped namespace, and the original is nobody's mirror whatever its labels", async () => {
  await fleet.submit("pi", { pod: { "instant-pods/run": "5s" } });
  await fleet.edit("pi", { metadata: { labels: { [HUB_UID_LABEL]: "somebody" } } });
  await fleet.untilActive("pi", 1);
  const { mirror } = await fleet.mirror("pi");
  const original = await fleet.job("pi");
  expect(mirror?.metadata.namespace).toBe("ferry-default");
  expect(mirror?.metadata.labels?.[HUB_UID_LABEL]).toBe(original?.metadata.uid);
  expect((await fleet.untilFinished("pi")).status?.succeeded).toBe(1);
  expect((await fleet.hub.kubectl("get", "pods", "-n", "default", "-o", "name")).stdout).toBe("");
});

it("A.9 a local Job beside it runs by the cluster's own controller and is not touched", async () => {
  await fleet.submit("local", { spec: { managedBy: "kubernetes.io/job-controller" } });
  const finished = await fleet.untilFinished("local");
  expect(finished.status?.succeeded).toBe(1);
  expect(Object.keys(finished.metadata.annotations ?? {}).filter((name) => name.startsWith("jobferry.dev/"))).toEqual(
    [],
  );
  expect(
    (await fleet.hub.api.list(jobs, { namespace: "ferry-default", labelSelector: "!jobferry.dev/hub-uid" })).items,
  ).toEqual([]);
});
