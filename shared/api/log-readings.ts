import { createHash, randomBytes } from "node:crypto";
import type { KubeObject, Resource } from "../kube/api.ts";

/**
 * Somebody wants to read the logs of a Job through the manager. Only who may read logs in its namespace can create one
 * (deploy/hub/logs.yaml), and only who created it knows the ticket that the manager asks for.
 */
export interface LogReading extends KubeObject {
  spec: {
    /** In the same namespace. */
    job: string;
    /** What `hashOf` makes of the ticket. */
    ticketHash: string;
  };
}

export const logReadings: Resource<LogReading> = {
  group: "jobferry.dev",
  version: "v1alpha1",
  plural: "logreadings",
  kind: "LogReading",
  namespaced: true,
};

/** How long a ticket opens the way to a log; one that was opened stays open. */
export const TICKET_MS = 300_000;
/** What carries the ticket to the manager. An API server that stands in between takes `Authorization` away. */
export const TICKET_HEADER = "x-jobferry-ticket";

export const newTicket = (): string => randomBytes(32).toString("base64url");
export const hashOf = (ticket: string): string => createHash("sha256").update(ticket).digest("base64url");

/** The Service of the managers, and the name of its port. */
export const LOG_SERVICE = { namespace: "jobferry-system", name: "jobferry-manager-logs", port: "logs" };
