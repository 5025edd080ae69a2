import { createHash } from "node:crypto";
import { z } from "zod";
import type { ConfigMap, Secret } from "../kube/resources.ts";
import { MAX_PIECE_CHARS, MAX_PIECES } from "../protocol/limits.ts";
import { type ReferredKind, referencesOf } from "./template.ts";

/** What can travel. */
export type CopiedKind = Extract<ReferredKind, "ConfigMap" | "Secret">;

/** Not a record of zod's, which leaves out `__proto__`: a key like any other. */
const texts = z.custom<Record<string, string>>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === "string"),
);
const shape = z.strictObject({ type: z.string().optional(), data: texts.optional(), binaryData: texts.optional() });

/** What a ConfigMap or Secret holds, without its name and metadata. */
export type Contents = z.infer<typeof shape>;

/** One text for equal contents, whatever the order of keys: it is what hashes are made of, and what travels. */
export function formatContents({ type, data, binaryData }: Secret & ConfigMap): string {
  return JSON.stringify({ type, data: sorted(data), binaryData: sorted(binaryData) });
}

/** Throws where it is not such a text; the error has no word of it. */
export function parseContents(text: string): Contents {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new Error("not the contents of a ConfigMap or Secret");
  }
}

const sorted = (values: Readonly<Record<string, string>> = {}): Record<string, string> | undefined => {
  const entries = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
};

/** In base64, so that no cut goes through a character. Undefined: larger than anything that an API server stores. */
export function cutIntoPieces(text: string, size = MAX_PIECE_CHARS): string[] | undefined {
  const base64 = Buffer.from(text).toString("base64");
  const pieces: string[] = [];
  for (let start = 0; start < base64.length; start += size) pieces.push(base64.slice(start, start + size));
  return pieces.length > MAX_PIECES ? undefined : pieces;
}

export const joinPieces = (pieces: readonly string[]): string => Buffer.from(pieces.join(""), "base64").toString();

const SUFFIX_CHARS = 10;
const MAX_NAME_CHARS = 253;

/**
 * Named by what it holds: two Jobs with the same contents share a copy, and a later edit gives later Jobs another one. What is
 * cut off a long name still counts.
 */
export function copyName(name: string, hash: string): string {
  const room = MAX_NAME_CHARS - SUFFIX_CHARS - 1;
  const digits = name.length > room ? createHash("sha256").update(`${name}\n${hash}`).digest("hex") : hash;
  return `${name.slice(0, room).replace(/[^a-z0-9]+$/, "")}-${digits.slice(0, SUFFIX_CHARS)}`;
}

/** The references of a template that may be names of copies. */
export const copiesIn = (template: Parameters<typeof referencesOf>[0]): { kind: CopiedKind; name: string }[] =>
  referencesOf(template).flatMap(({ kind, name }) =>
    (kind === "ConfigMap" || kind === "Secret") && /-[0-9a-f]{10}$/.test(name) ? [{ kind, name }] : [],
  );
