import type { Job } from "@jobferry/shared/job/types.ts";
import { EPOCH, HUB_UID_LABEL, PROOF } from "@jobferry/shared/protocol/marks.ts";
import { describe, expect, it } from "vitest";
import { generateMirrorKey, Proofs, parseMirrorKeys } from "./proofs.ts";

const [key, next] = [generateMirrorKey(), generateMirrorKey()];
const proofs = new Proofs(parseMirrorKeys(key));
const proof = proofs.make("u1", "team", "pi");

const aMirror = (over: Partial<Job["metadata"]> = {}, proven = proof): Job => ({
  metadata: {
    name: "pi",
    namespace: "team",
    labels: { [HUB_UID_LABEL]: "u1", app: "x" },
    annotations: { [EPOCH]: "1", [PROOF]: proven, note: "y" },
    ...over,
  },
  spec: { template: { spec: { restartPolicy: "Never", containers: [] } } },
});

describe("a proof", () => {
  it.each<[string, Job]>([
    ["in another namespace", aMirror({ namespace: "dev" })],
    ["under another name", aMirror({ name: "fake" })],
    ["for another hub Job", aMirror({ labels: { [HUB_UID_LABEL]: "u2" } })],
    ["by another key", aMirror({}, new Proofs(parseMirrorKeys(next)).make("u1", "team", "pi"))],
    ["that is cut off", aMirror({}, proof.slice(0, -4))],
    ["that is empty", aMirror({}, "")],
    ["that is missing", aMirror({ annotations: { [EPOCH]: "1" } })],
  ])("%s is nothing", (_, job) => {
    expect(proofs.isForeign(job)).toBe(true);
    expect(proofs.withoutForeignMarks(job).metadata.labels).not.toHaveProperty([HUB_UID_LABEL]);
    expect(proofs.withoutForeignMarks(job).metadata.annotations).not.toHaveProperty([EPOCH]);
  });

  it("of our own leaves the mirror as it is", () => {
    const mirror = aMirror();
    expect(proofs.isForeign(mirror)).toBe(false);
    expect(proofs.withoutForeignMarks(mirror)).toBe(mirror);
  });

  it("says nothing of a Job that does not claim to be a mirror", () => {
    expect(proofs.isForeign(aMirror({ labels: { app: "x" } }))).toBe(false);
  });

  it("by the former key is accepted while keys are changed, and is not current", () => {
    const both = new Proofs(parseMirrorKeys(`${next}\n${key}\n`));
    expect([both.isForeign(aMirror()), both.isCurrent(aMirror())]).toEqual([false, false]);
    expect(both.isCurrent(aMirror({}, both.make("u1", "team", "pi")))).toBe(true);
  });
});

it.each(["", "short", `${key}\n${next}\n${key}`, `${key}!`])("mirror keys %j are refused", (text) => {
  expect(() => parseMirrorKeys(text)).toThrow(/mirror key/);
});
