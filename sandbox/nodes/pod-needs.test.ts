import { podRequests } from "@jobferry/shared/job/requests.ts";
import { expect, test } from "vitest";
import { needsOf, signatureOf } from "./pod-needs.ts";
import { aPod } from "./testing/pod.ts";

const cpu = (quantity: string) => ({ resources: { requests: { cpu: quantity } } });

test("app containers add up, and a limit without a request counts as one", () => {
  const pod = aPod("p", { containers: [cpu("100m"), { resources: { limits: { cpu: "1", memory: "1Ki" } } }] });
  expect([...podRequests(pod.spec)]).toEqual([
    ["pods", 1],
    ["cpu", 1100],
    ["memory", 1024],
  ]);
});

test("the hungriest init container counts when it needs more than the apps", () => {
  const init = (name: string, quantity: string, restartPolicy?: string) => ({
    name,
    image: "x",
    ...cpu(quantity),
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const small = aPod("p", { containers: [cpu("500m")], initContainers: [init("a", "200m"), init("b", "300m")] });
  expect(podRequests(small.spec).get("cpu")).toBe(500);
  const large = aPod("p", { containers: [cpu("500m")], initContainers: [init("a", "800m")] });
  expect(podRequests(large.spec).get("cpu")).toBe(800);
  const sidecar = aPod("p", {
    containers: [cpu("500m")],
    initContainers: [init("s", "100m", "Always"), init("a", "800m")],
  });
  expect(podRequests(sidecar.spec).get("cpu")).toBe(900);
});

test("pods that differ only in name have one signature; what decides the place changes it", () => {
  const signature = (pod: ReturnType<typeof aPod>) => signatureOf(needsOf(pod));
  const plain = signature(aPod("a"));
  expect(signature(aPod("b"))).toBe(plain);
  expect(signature(aPod("b", { containers: [cpu("1")] }))).not.toBe(plain);
  expect(signature(aPod("b", { nodeSelector: { zone: "a" } }))).not.toBe(plain);
  expect(signature(aPod("b", { tolerations: [{ operator: "Exists" }] }))).not.toBe(plain);
  expect(signature(aPod("b", { priority: 5 }))).not.toBe(plain);
});
