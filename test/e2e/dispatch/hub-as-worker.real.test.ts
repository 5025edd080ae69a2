/** A.10: the hub is its own worker, and mixes local with dispatched Jobs. */
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { forever } from "./fleet-namespace.ts";
import { RealFleet } from "./real-fleet.ts";

const fleet = new RealFleet({ namespacePrefix: "ferry-" });
beforeAll(() => fleet.start(), 300_000);
afterAll(() => fleet.stop());

it.concurrent("a namespace that the worker does not have is a typed refusal on the hub Job", async () => {
  const at = await fleet.namespace("early", []);
  await at.submit("early");
  await at.untilMessage("early", /NamespaceMissing: namespace ferry-early does not exist on this cluster/);
  await fleet.addNamespace("self", at.name);
  expect((await at.untilFinished("early")).status?.succeeded).toBe(1);
});

it.concurrent("the mirror lives in the mapped namespace, and the original is nobody's mirror whatever its labels", async () => {
  const at = await fleet.namespace("mapped");
  await at.submit("pi", { pod: forever });
  await at.edit("pi", { metadata: { labels: { [HUB_UID_LABEL]: "somebody" } } });
  await at.untilActive("pi", 1);
  const { mirror } = await at.mirror("pi");
  const original = await at.job("pi");
  expect(mirror?.metadata.namespace).toBe("ferry-mapped");
  expect(mirror?.metadata.labels?.[HUB_UID_LABEL]).toBe(original?.metadata.uid);
  await at.end("pi", 0);
  expect((await at.untilFinished("pi")).status?.succeeded).toBe(1);
  expect((await fleet.hub.kubectl("get", "pods", "-n", at.name, "-o", "name")).stdout).toBe("");
});

it.concurrent("A.9 a local Job beside it runs by the cluster's own controller and is not touched", async () => {
  const at = await fleet.namespace("local");
  await at.submit("local", { spec: { managedBy: "kubernetes.io/job-controller" } });
  const { status, metadata } = await at.untilFinished("local");
  expect(status?.succeeded).toBe(1);
  expect(Object.keys(metadata.annotations ?? {}).filter((name) => name.startsWith("jobferry.dev/"))).toEqual([]);
  expect((await fleet.hub.api.list(jobs, { namespace: at.mapped })).items).toEqual([]);
});
