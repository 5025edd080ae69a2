import type { Taint } from "@jobferry/shared/job/node-rules.ts";
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds, NodeRules } from "./job-needs.ts";
import { blockingTaints, isPassing, matchesLabels, UNKNOWN } from "./node-match.ts";

/** The first thing that stands in the way, in the order in which a person would set about it. */
export function obstacleOf(needs: JobNeeds, nodes: NodesReport, room: { now: number; ever: number }): string {
  const { rules, perPod, pods, gang } = needs;
  const all = nodeCount(nodes.shapes);
  if (all === 0) return "it has no nodes";
  if (gang && room.now > 0) return gangObstacle(pods, room);
  const matching = nodes.shapes.filter((shape) => anyNodeMatches(rules, shape, nodes.hiddenLabels));
  if (matching.length === 0) return labelObstacle(rules, nodes, all);
  const open = matching.filter((shape) => blockingTaints(rules, shape).every(isPassing));
  if (open.length === 0) return taintObstacle(rules, matching);
  const tooSmall = shortage(
    perPod,
    open.map((shape) => [shape, shape.allocatable]),
  );
  if (tooSmall !== undefined && room.ever === 0)
    return `no node that matches is large enough for one pod (${words(tooSmall, "the largest has")})`;
  const untainted = open.filter((shape) => blockingTaints(rules, shape).length === 0);
  if (untainted.length === 0) return taintObstacle(rules, open);
  const rows = untainted.flatMap((shape) => shape.free.map(({ room: free }) => [shape, free] as const));
  if (rows.length === 0) return `not ready: ${nodesWord(nodeCount(untainted))} that would do`;
  return `no room for one pod now (${words(shortage(perPod, rows), "the most free on one node is")})`;
}

const nodeCount = (shapes: readonly NodeShape[]): number => shapes.reduce((sum, { nodes }) => sum + nodes, 0);

const nodesWord = (count: number): string => (count === 1 ? "1 node" : `${count} nodes`);

const none = (nodes: number, verb: "have" | "match"): string =>
  nodes === 1 ? `its one node does not ${verb}` : `none of its ${nodes} nodes ${verb === "have" ? "has" : "matches"}`;

/** Names that were reported must match; of those that were not we believe it. */
function anyNodeMatches(rules: NodeRules, shape: NodeShape, hidden: readonly string[]): boolean {
  if (!matchesLabels(rules, shape, hidden, UNKNOWN)) return false;
  const names = shape.free.flatMap((row) => row.names ?? []);
  return names.length < shape.nodes || names.some((name) => matchesLabels(rules, shape, hidden, name));
}

function gangObstacle(pods: number, { now, ever }: { now: number; ever: number }): string {
  const atMost = ever < pods ? `, and for at most ${ever} when all its nodes are empty` : "";
  return `room for ${now} of the ${pods} pods that must run at once${atMost}`;
}

function labelObstacle({ nodeName, nodeSelector, affinity }: NodeRules, nodes: NodesReport, all: number): string {
  if (nodeName !== undefined) return `${none(all, "have")} the name ${nodeName}`;
  const asked = [
    ...Object.keys(nodeSelector),
    ...(affinity ?? []).flatMap(({ matchExpressions = [] }) => matchExpressions.map(({ key }) => key)),
  ];
  const hidden = asked.find((key) => nodes.hiddenLabels.includes(key));
  if (hidden !== undefined)
    return `it has nodes with the label ${hidden}, but its agent does not report it (start the agent with --node-labels=${hidden})`;
  for (const [key, value] of Object.entries(nodeSelector))
    if (!nodes.shapes.some(({ labels }) => labels[key] === value))
      return `${none(all, "have")} the label ${key}=${value}`;
  return affinity === undefined
    ? `${none(all, "have")} all labels of the node selector`
    : `${none(all, "match")} the node affinity`;
}

/** The taint that keeps the pods from most nodes. */
function taintObstacle(rules: NodeRules, shapes: readonly NodeShape[]): string {
  const counts = new Map<string, number>();
  for (const shape of shapes)
    for (const taint of blockingTaints(rules, shape))
      counts.set(taintWords(taint), (counts.get(taintWords(taint)) ?? 0) + shape.nodes);
  const [taint = "", nodes = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? [];
  return `the Job does not tolerate the taint ${taint} of ${nodes} of the ${nodesWord(nodeCount(shapes))} that match`;
}

const taintWords = ({ key, value, effect }: Taint): string => `${key}${value ? `=${value}` : ""}:${effect}`;

/** A resource of which no row has enough; all that are asked for when none is short by itself. */
type Shortage = { resource: string; asks: number; has: number } | { together: Amounts };

function shortage(perPod: Amounts, rows: readonly (readonly [NodeShape, readonly number[]])[]): Shortage | undefined {
  for (const [resource, asks] of perPod) {
    const has = Math.max(0, ...rows.map(([{ resources }, figures]) => figures[resources.indexOf(resource)] ?? 0));
    if (has < asks) return { resource, asks, has };
  }
  const enough = rows.some(([{ resources }, figures]) =>
    [...perPod].every(([resource, asks]) => (figures[resources.indexOf(resource)] ?? 0) >= asks),
  );
  return enough ? undefined : { together: perPod };
}

function words(short: Shortage | undefined, has: string): string {
  if (short === undefined) return "the nodes that have it are not the ones that are asked for by name";
  if ("together" in short)
    return `no node has ${[...short.together].map(([name, units]) => `${name} ${amountWords(name, units)}`).join(" and ")} at once`;
  const { resource } = short;
  return `${resource}: asks ${amountWords(resource, short.asks)}, ${has} ${amountWords(resource, short.has)}`;
}

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];

export function amountWords(resource: string, units: number): string {
  if (resource === "cpu") return units % 1000 === 0 ? String(units / 1000) : `${units}m`;
  if (resource !== "memory" && resource !== "ephemeral-storage" && !resource.startsWith("hugepages-"))
    return String(units);
  let [value, power] = [units, 0];
  while (value >= 1024 && power < BINARY.length - 1) [value, power] = [value / 1024, power + 1];
  return `${Number.isInteger(value) ? value : value.toFixed(1)}${BINARY[power]}`;
}
