/**
 * What the last report leaves for the next Job, once pods that were placed since are counted. Which nodes they go to is for the
 * worker's scheduler to say; we assume the ones with the most room, as kube-scheduler does by default.
 */
import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { JobNeeds } from "./job-needs.ts";
import { blockingTaints, matchesLabels, namedNodes, UNKNOWN } from "./node-match.ts";

type FreeRow = NodeShape["free"][number];

/** Nodes of one row that may get pods. */
interface Place {
  readonly shape: NodeShape;
  nodes: number;
  names: string[] | undefined;
  room: number[];
  /** False: these nodes have what they can get. */
  open: boolean;
}

/** Pods that have no room are not counted. A shape that gets none stays the same object. */
export function takeOff(report: NodesReport, needs: JobNeeds): NodesReport {
  const changed = new Map<NodeShape, Place[]>();
  const open: Place[] = [];
  for (const shape of report.shapes) {
    const places = placesOf(shape, report.hiddenLabels, needs);
    if (!places.some((place) => place.open)) continue;
    changed.set(shape, places);
    open.push(...places.filter((place) => place.open));
  }
  fill(open, changed, needs);
  if (changed.size === 0) return report;
  const shapes = report.shapes.map((shape) => {
    const places = changed.get(shape);
    return places === undefined ? shape : { ...shape, free: merged(places) };
  });
  return { ...report, shapes };
}

function placesOf(shape: NodeShape, hidden: readonly string[], { rules, perPod }: JobNeeds): Place[] {
  const mayGo = blockingTaints(rules, shape).length === 0 && matchesLabels(rules, shape, hidden, UNKNOWN);
  const byName = namedNodes(rules) !== undefined;
  return shape.free.flatMap(({ nodes, room, names }) => {
    const place = { shape, room: [...room] };
    const open = mayGo && podsOn(place, perPod) > 0;
    if (!open || !byName || names === undefined) return [{ ...place, nodes, names, open }];
    const asked = names.filter((name) => matchesLabels(rules, shape, hidden, name));
    const others = names.filter((name) => !asked.includes(name));
    return [
      { ...place, nodes: asked.length, names: asked, open },
      { ...place, room: [...room], nodes: others.length, names: others, open: false },
    ].filter(({ nodes: count }) => count > 0);
  });
}

/** The emptiest nodes first, all of a row alike; many pods go in by handfuls, so that the work grows with the rows. */
function fill(open: Place[], changed: Map<NodeShape, Place[]>, { perPod, pods, alone }: JobNeeds): void {
  let left = pods;
  while (left > 0) {
    const candidates = open.filter((place) => place.open);
    const nodes = candidates.reduce((sum, place) => sum + place.nodes, 0);
    if (nodes === 0) return;
    const handful = alone ? 1 : Math.max(1, Math.floor(left / nodes));
    candidates.sort((one, other) => emptiness(other) - emptiness(one));
    for (const place of handful > 1 ? candidates : candidates.slice(0, 1)) {
      const each = Math.min(handful, podsOn(place, perPod));
      const count = Math.min(place.nodes, Math.floor(left / each));
      if (count === 0) continue;
      if (count < place.nodes) changed.get(place.shape)?.push(split(place, count, open));
      for (const [resource, amount] of perPod) {
        const at = place.shape.resources.indexOf(resource);
        if (at >= 0) place.room[at] = (place.room[at] ?? 0) - each * amount;
      }
      place.open = !alone && podsOn(place, perPod) > 0;
      left -= each * count;
    }
  }
}

/** Leaves `count` nodes in the place and returns the others. */
function split(place: Place, count: number, open: Place[]): Place {
  const rest = {
    ...place,
    room: [...place.room],
    nodes: place.nodes - count,
    names: place.names?.slice(count),
  };
  place.nodes = count;
  place.names = place.names?.slice(0, count);
  open.push(rest);
  return rest;
}

function podsOn({ shape: { resources }, room }: Pick<Place, "shape" | "room">, perPod: JobNeeds["perPod"]): number {
  let pods = Number.POSITIVE_INFINITY;
  for (const [resource, amount] of perPod)
    pods = Math.min(pods, Math.floor((room[resources.indexOf(resource)] ?? 0) / amount));
  return pods;
}

/** By CPU and memory, the two that kube-scheduler weighs. */
function emptiness({ shape: { resources, allocatable }, room }: Place): number {
  const part = (resource: string): number => {
    const at = resources.indexOf(resource);
    const whole = allocatable[at] ?? 0;
    return whole > 0 ? (room[at] ?? 0) / whole : 0;
  };
  return part("cpu") + part("memory");
}

/** Nodes with the same room share a row again. */
function merged(places: readonly Place[]): FreeRow[] {
  const rows = new Map<string, FreeRow>();
  for (const { room, nodes, names } of places) {
    const key = `${names === undefined} ${room}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, names === undefined ? { nodes, room } : { nodes, room, names });
    else {
      row.nodes += nodes;
      if (row.names !== undefined && names !== undefined) row.names = [...row.names, ...names];
    }
  }
  return [...rows.values()];
}
