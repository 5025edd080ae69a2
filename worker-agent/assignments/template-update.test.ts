import type { PodTemplate } from "@jobferry/shared/job/types.ts";
import { expect, it } from "vitest";
import { templateUpdate } from "./template-update.ts";

const aTemplate = (metadata: PodTemplate["metadata"], spec: Partial<PodTemplate["spec"]> = {}): PodTemplate => ({
  ...(metadata === undefined ? {} : { metadata }),
  spec: { containers: [{ name: "main", image: "none" }], ...spec },
});

it("is empty for equal templates", () => {
  const same = () => aTemplate({ labels: { a: "b" } }, { nodeSelector: { zone: "eu" }, tolerations: [{ key: "k" }] });
  expect(templateUpdate(same(), same())).toEqual({ metadata: undefined, spec: {} });
});

it("VU-8 sets, replaces and takes away what schedules the pods", () => {
  const before = aTemplate(
    { labels: { old: "1", kept: "2" } },
    { nodeSelector: { disk: "slow", zone: "a" }, affinity: { nodeAffinity: { x: 1 } }, tolerations: [{ key: "old" }] },
  );
  const after = aTemplate({ labels: { kept: "2" }, annotations: { new: "3" } }, { nodeSelector: { disk: "fast" } });
  expect(templateUpdate(before, { ...after, spec: { ...after.spec, tolerations: [{ key: "new" }] } })).toEqual({
    metadata: { labels: { old: null }, annotations: { new: "3" } },
    spec: { nodeSelector: { disk: "fast", zone: null }, affinity: null, tolerations: [{ key: "new" }] },
  });
});

it("VU-8 gives containers the hub's resources, and leaves the worker's own containers alone", () => {
  const worker = aTemplate(undefined, { containers: [{ name: "main", image: "none" }, { name: "injected" }] });
  const requests = { cpu: "2" };
  const hub = aTemplate(undefined, { containers: [{ name: "main", image: "none", resources: { requests } }] });
  expect(templateUpdate(worker, hub)).toEqual({
    metadata: undefined,
    spec: { containers: [{ name: "main", image: "none", resources: { requests } }, { name: "injected" }] },
  });
});

it("changes nothing that a suspended Job may not change", () => {
  const [one, other] = [aTemplate(undefined, { hostname: "a" }), aTemplate(undefined, { hostname: "b" })];
  expect(templateUpdate(one, other)).toEqual({ metadata: undefined, spec: {} });
});
