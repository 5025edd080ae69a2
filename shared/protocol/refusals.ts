/** What to do about a message that cannot be opened, for whoever reads the log or the event. */

import type { PublicKey } from "./keys.ts";
import type { Route } from "./names.ts";

const SET_IMAGE = "kubectl set image -n jobferry-system deployment/jobferry-";
const UPGRADE = {
  manager: `upgrade the manager: \`${SET_IMAGE}manager manager=IMAGE\` on the hub`,
  agent: `upgrade the agent: \`${SET_IMAGE}agent agent=IMAGE\` on the worker`,
};

/** Too old: the sender is to be upgraded. Too new: we are. */
export function otherVersion(theirs: number, ours: number, { direction, cluster }: Route): string {
  const [sender, receiver] = direction === "report" ? (["agent", "manager"] as const) : (["manager", "agent"] as const);
  const isOld = theirs < ours;
  const enrol = isOld && sender === "agent" ? `, and give it a key that seals: ${renew(cluster)}` : "";
  return `the ${sender} speaks jobferry/${theirs} and is too ${isOld ? "old" : "new"} for this ${receiver}, which speaks jobferry/${ours}; ${UPGRADE[isOld ? sender : receiver]}${enrol}`;
}

export function unknownSender(id: string, { direction, cluster }: Route): string {
  if (direction === "delivery") return `the manager's key ${id} is not among those of --manager-key`;
  return `the agent's key ${id} is not the one in the WorkerCluster; enrol the cluster again: ${renew(cluster)}`;
}

export function unknownRecipient(id: string, { direction, cluster }: Route, own: PublicKey): string {
  if (direction === "delivery")
    return `it is for the key ${id}, this agent has ${own.id}; enrol the cluster again: ${renew(cluster)}`;
  return `it is for the key ${id}, this manager has ${own.id}; put ${own.text} under manager-key in the Secret jobferry-agent of that cluster and restart the agent`;
}

const renew = (cluster: string): string => `\`jobferry cluster add ${cluster} --renew\``;
