import { COPY_HASH, COPY_LABEL, COPY_MAC } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { generateMirrorKey, parseMirrorKeys } from "../proofs.ts";
import { type Copy, CopyMaker, type Place } from "./copy.ts";

const [key] = parseMirrorKeys(generateMirrorKey());
const [other] = parseMirrorKeys(generateMirrorKey());
const maker = new CopyMaker([key]);
const place: Place = { kind: "Secret", namespace: "team", name: "login", hash: "ab".repeat(32) };
const copy = maker.make(place, { type: "Opaque", data: { user: "YWxpY2U=" } }, "team/login");

it("a copy is immutable, labelled, and named by its contents", () => {
  expect(copy).toMatchObject({
    metadata: { name: "login-ababababab", namespace: "team", labels: { [COPY_LABEL]: "true" } },
    type: "Opaque",
    data: { user: "YWxpY2U=" },
    immutable: true,
  });
  expect(maker.isGenuine(copy, place)).toBe(true);
});

const metadata = (fields: object): Copy => ({ ...copy, metadata: { ...copy.metadata, ...fields } });
it.each<[string, Copy]>([
  ["other contents", { ...copy, data: { user: "Ym9i" } }],
  ["another type", { ...copy, type: "kubernetes.io/tls" }],
  ["contents that can be changed", { ...copy, immutable: false }],
  ["no label of ours", metadata({ labels: {} })],
  ["no MAC", metadata({ annotations: { [COPY_HASH]: place.hash } })],
  ["a MAC of another length", metadata({ annotations: { ...copy.metadata.annotations, [COPY_MAC]: "AAAA" } })],
])("one with %s is not genuine", (_, changed) => {
  expect(maker.isGenuine(changed, place)).toBe(false);
});

it.each<[string, Partial<Place>]>([
  ["kind", { kind: "ConfigMap" }],
  ["namespace", { namespace: "other" }],
  ["name", { name: "other" }],
  ["hash", { hash: "cd".repeat(32) }],
])("one that was made for another %s is not genuine", (_, elsewhere) => {
  expect(maker.isGenuine(copy, { ...place, ...elsewhere })).toBe(false);
});

it("copies stay genuine while the agent's key is changed, and another agent's never are", () => {
  expect(new CopyMaker([other, key]).isGenuine(copy, place)).toBe(true);
  expect(new CopyMaker([other]).isGenuine(copy, place)).toBe(false);
  expect([maker.isOurs("Secret", copy), new CopyMaker([other]).isOurs("Secret", copy)]).toEqual([true, false]);
  expect(maker.isOurs("Secret", { ...copy, data: {} })).toBe(false);
});
