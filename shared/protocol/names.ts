import { z } from "zod";
import { ProtocolError } from "./errors.ts";
import { MAX_INT32 } from "./limits.ts";

/** The name becomes part of Redis keys and of an ACL pattern: only characters that mean nothing there. */
export const clusterName = z
  .string()
  .max(63)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  .refine((name) => name !== "manager", "the manager's Redis user has this name")
  .brand<"ClusterName">();
export type ClusterName = z.infer<typeof clusterName>;

/** `delivery`: from the manager to the cluster. `report`: back. */
export interface Route {
  readonly direction: "delivery" | "report";
  readonly cluster: ClusterName;
}

/** UID of a Job on the hub. Opaque, but never anything with a meaning in a key or an id. */
export const hubUid = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/)
  .brand<"HubUid">();
export type HubUid = z.infer<typeof hubUid>;

/** Of most Kubernetes objects. */
export const dnsSubdomain = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);

/** Counts the assignments of one Job, from 1. The bound keeps a hostile agent from using the numbers up. */
export const epoch = z.int().min(1).max(MAX_INT32).brand<"Epoch">();
export type Epoch = z.infer<typeof epoch>;

/** A moment on an agent's own clock: `process:milliseconds`. It grows with everything that one process says. */
export const stamp = z.string().min(1).max(64);

/** A word of the leading manager that an agent says back, so that what it says was said since. */
export const nonce = z.string().max(64);

/** Of an X25519 key, as keys.ts writes it. */
export const publicKey = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);

export function parseClusterName(text: string): ClusterName {
  const parsed = clusterName.safeParse(text);
  if (!parsed.success) throw new ProtocolError("protocol/name", `not ${JSON.stringify(text.slice(0, 80))}`);
  return parsed.data;
}
