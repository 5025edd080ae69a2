import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import {
  CARRY,
  CLUSTER,
  EPOCH,
  GENERATION,
  HUB_UID_LABEL,
  PROOF,
  REVISION,
  STOP_AFTER,
  WORKER_MANAGED_BY,
} from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { describe, expect, it } from "vitest";
import { isSeeded } from "../mirrors.ts";
import { generateMirrorKey, Proofs, parseMirrorKeys } from "../proofs.ts";
import { isUpToDate, mirrorUpdates, newMirror, seedOf } from "./mirror-spec.ts";

const generated = { "batch.kubernetes.io/controller-uid": "hub", "job-name": "pi" };
const aDelivery = (over: Partial<RunDelivery> = {}): RunDelivery => ({
  kind: "assignment",
  uid: hubUid.parse("u1"),
  epoch: epoch.parse(2),
  generation: 3,
  revision: 77,
  namespace: "team",
  name: "pi",
  desired: "run",
  job: {
    labels: { app: "x", ...generated },
    annotations: { note: "y", [CLUSTER]: "east", "kubectl.kubernetes.io/last-applied-configuration": "{}" },
    spec: {
      managedBy: "jobferry.dev/manager",
      ttlSecondsAfterFinished: 60,
      parallelism: 2,
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "hub" } },
      template: {
        metadata: { labels: { app: "x", ...generated } },
        spec: { restartPolicy: "Never", containers: [{ name: "main", image: "none" }] },
      },
    },
  },
  ...over,
});
const proofs = new Proofs(parseMirrorKeys(generateMirrorKey()));
const agent = { controller: "agent", mapNamespace: (name: string) => name, proofs } as const;
const builtin = { controller: "builtin", mapNamespace: (name: string) => `hub-${name}`, proofs } as const;

describe("newMirror", () => {
  it("K-25 K-26 is the hub's Job with our marks and without what is the hub's", () => {
    const { metadata, spec } = newMirror(aDelivery(), agent);
    expect(metadata).toEqual({
      name: "pi",
      namespace: "team",
      labels: { app: "x", [HUB_UID_LABEL]: "u1" },
      annotations: {
        ...{ note: "y", [EPOCH]: "2", [GENERATION]: "3", [REVISION]: "77" },
        [PROOF]: proofs.make("u1", "team", "pi"),
      },
    });
    expect(spec).toMatchObject({ managedBy: WORKER_MANAGED_BY, parallelism: 2 });
    expect(spec).not.toHaveProperty("ttlSecondsAfterFinished");
    expect(spec).not.toHaveProperty("selector");
    expect(spec.template.metadata?.labels).toEqual({ app: "x" });
  });

  it("leaves a selector alone that was written by hand", () => {
    const { job } = aDelivery();
    const { spec } = newMirror(aDelivery({ job: { ...job, spec: { ...job.spec, manualSelector: true } } }), agent);
    expect(spec.selector).toEqual(job.spec.selector);
    expect(spec.template.metadata?.labels).toEqual({ app: "x", ...generated });
  });

  it("waits to be seeded when something was achieved elsewhere", () => {
    expect(isSeeded(newMirror(aDelivery(), agent))).toBe(true);
    const moved = newMirror(aDelivery({ carry: { succeeded: 1 } }), agent);
    expect(moved.metadata.annotations?.[CARRY]).toBeDefined();
    expect(isSeeded(moved)).toBe(false);
    expect(moved.spec.suspend).toBeUndefined();
  });

  it("builtin: without managedBy, in its own namespace, suspended until it is seeded", () => {
    const mirror = newMirror(aDelivery({ carry: { succeeded: 1 } }), builtin);
    expect(mirror.metadata.namespace).toBe("hub-team");
    expect(mirror.spec).not.toHaveProperty("managedBy");
    expect(mirror.spec.suspend).toBe(true);
  });
});

describe("seedOf", () => {
  it.each([
    ["nothing", undefined],
    ["an empty status", {}],
    ["only what runs", { active: 2, ready: 1, terminating: 1 }],
  ])("carries nothing over from %s", (_, carry) => {
    expect(seedOf(carry)).toBeUndefined();
  });

  it("carries what was achieved, without what ran there", () => {
    const carry = { succeeded: 2, completedIndexes: "0,1", active: 3, ready: 2, terminating: 1 };
    expect(seedOf(carry)).toEqual({
      succeeded: 2,
      completedIndexes: "0,1",
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
  });
});

describe("isUpToDate", () => {
  it("follows the generation and the time to stop", () => {
    const mirror = newMirror(aDelivery(), agent);
    expect(isUpToDate(mirror, aDelivery({ revision: 99 }))).toBe(true);
    expect(isUpToDate(mirror, aDelivery({ generation: 4 }))).toBe(false);
    expect(isUpToDate(mirror, aDelivery({ stopAfterSeconds: 20 }))).toBe(false);
    expect(isUpToDate(newMirror(aDelivery({ stopAfterSeconds: 20 }), agent), aDelivery())).toBe(false);
  });

  it("VU-11 an update takes the time to stop away again, and touches the template only of a suspended mirror", () => {
    const mirror = newMirror(aDelivery(), agent);
    const { job } = aDelivery();
    const template = { ...job.spec.template, metadata: { labels: { app: "y", ...generated } } };
    const edited = aDelivery({ job: { ...job, spec: { ...job.spec, template } } });
    const [update, ...more] = mirrorUpdates(mirror, edited);
    expect(more).toEqual([]);
    expect(update?.metadata).toMatchObject({
      annotations: { [STOP_AFTER]: null, [GENERATION]: "3" },
    });
    expect(update?.spec).not.toHaveProperty("template");
    const suspended = { ...mirror, spec: { ...mirror.spec, suspend: true } };
    expect(mirrorUpdates(suspended, edited)[0]?.spec).toHaveProperty("template.metadata.labels", { app: "y" });
  });

  it.each([
    ["together", 2, 2, [{ completions: 2, parallelism: 2 }]],
    [
      "and parallelism again since",
      2,
      1,
      [
        { completions: 2, parallelism: 2 },
        { completions: 2, parallelism: 1 },
      ],
    ],
    ["not at all", 5, 1, [{ completions: 5, parallelism: 1 }]],
  ])("VU-3 follows completions that were changed %s", (_, completions, parallelism, want) => {
    const { job } = aDelivery();
    const scaled = (over: object) => aDelivery({ job: { ...job, spec: { ...job.spec, ...over } } });
    const mirror = newMirror(scaled({ completionMode: "Indexed", completions: 5, parallelism: 5 }), agent);
    const updates = mirrorUpdates(mirror, scaled({ completionMode: "Indexed", completions, parallelism }));
    expect(updates.map(({ spec }) => spec)).toMatchObject(want);
  });
});
