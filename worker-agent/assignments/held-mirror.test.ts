import type { Job } from "@jobferry/shared/job/types.ts";
import type { RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { AWAITS } from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { expect, it } from "vitest";
import { awaitsCopies, copyKeysOf, isSeeded } from "../mirrors.ts";
import { generateMirrorKey, Proofs, parseMirrorKeys } from "../proofs.ts";
import { decide, type Facts } from "./decide.ts";
import { Inventory } from "./inventory.ts";
import { hasCopiesOf, newMirror } from "./mirror-spec.ts";
import type { State } from "./state.ts";

const hash = "ab".repeat(32);
const delivery: RunDelivery = {
  kind: "assignment",
  uid: hubUid.parse("u1"),
  epoch: epoch.parse(2),
  generation: 3,
  revision: 77,
  namespace: "team",
  name: "pi",
  desired: "run",
  job: {
    annotations: { [AWAITS]: "made up by the submitter" },
    spec: {
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [
            { name: "main", envFrom: [{ configMapRef: { name: "words" } }, { secretRef: { name: "words" } }] },
          ],
        },
      },
    },
  },
  references: [{ kind: "ConfigMap", name: "words", hash }],
};
const proofs = new Proofs(parseMirrorKeys(generateMirrorKey()));
const agent = { controller: "agent", mapNamespace: (name: string) => name, proofs } as const;
const builtin = { ...agent, controller: "builtin" } as const;
const held = newMirror(delivery, agent, true);

it("a mirror refers to the copies of what is listed, and to nothing else under another name", () => {
  expect(held.spec.template.spec.containers[0]?.envFrom).toEqual([
    { configMapRef: { name: "words-ababababab" } },
    { secretRef: { name: "words" } },
  ]);
  expect(copyKeysOf(held)).toEqual(["ConfigMap/team/words-ababababab"]);
});

it("while its copies are awaited no Job controller touches it: ours by the mark, the cluster's own because it is suspended", () => {
  expect([awaitsCopies(held), isSeeded(held)]).toEqual([true, false]);
  expect(newMirror(delivery, builtin, true).spec.suspend).toBe(true);
  expect(newMirror(delivery, builtin, false).spec.suspend).toBeUndefined();
});

it("one whose copies are here is not held, whatever the submitter wrote", () => {
  expect(isSeeded(newMirror(delivery, agent, false))).toBe(true);
});

it("a mirror that was made for other contents is told from one that was made for these", () => {
  const other: RunDelivery = { ...delivery, references: [{ kind: "ConfigMap", name: "words", hash: "cd".repeat(32) }] };
  expect([hasCopiesOf(held, delivery), hasCopiesOf(held, other)]).toEqual([true, false]);
});

const facts = (mirrors: readonly Job[]): Facts => ({
  mirrors,
  areRead: true,
  inventory: new Inventory(100, [{ uid: delivery.uid, epoch: delivery.epoch, seq: 0 }]),
  inContact: () => true,
  retentionLeftMs: () => 0,
});
const due = (of: RunDelivery): State => ({ at: "due", epoch: of.epoch, revision: of.revision, delivery: of });

it("the copies of a held mirror are provided", () => {
  expect(decide(due(delivery), facts([held]))).toEqual({ do: "provide", delivery, mirror: held });
});

it("a held mirror that was made for contents that the hub no longer has goes, and is made anew", () => {
  const changed: RunDelivery = {
    ...delivery,
    references: [{ kind: "ConfigMap", name: "words", hash: "cd".repeat(32) }],
  };
  expect(decide(due(changed), facts([held]))).toMatchObject({ do: "delete", mirrors: [held] });
  expect(decide(due(changed), facts([]))).toEqual({ do: "create", delivery: changed });
});

it("a mirror that runs keeps the contents that it started with", () => {
  const runs = newMirror(delivery, agent, false);
  const changed: RunDelivery = {
    ...delivery,
    references: [{ kind: "ConfigMap", name: "words", hash: "cd".repeat(32) }],
  };
  expect(decide(due(changed), facts([runs]))).toEqual({ do: "settle" });
});
