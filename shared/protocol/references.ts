import { z } from "zod";
import { MAX_PIECE_CHARS, MAX_PIECES, MAX_REFERENCES } from "./limits.ts";
import { dnsSubdomain } from "./names.ts";

/** A ConfigMap or Secret of the hub as it was when the Job was dispatched. The hash is a MAC: only the manager can make it. */
export const listedReference = z.object({
  kind: z.enum(["ConfigMap", "Secret"]),
  name: dnsSubdomain,
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
export type ListedReference = z.infer<typeof listedReference>;

export const listedReferences = z.array(listedReference).max(MAX_REFERENCES);

/** A part of the contents, which are base64 of UTF-8 (shared/references/contents.ts). */
export const piece = {
  piece: z.int().min(1).max(MAX_PIECES),
  pieces: z.int().min(1).max(MAX_PIECES),
  text: z
    .string()
    .max(MAX_PIECE_CHARS)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/),
};
