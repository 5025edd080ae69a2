import type { NodeShape, NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import type { NodeRules } from "./job-needs.ts";
import { blockingTaints, matchesLabels, UNKNOWN } from "./node-match.ts";
import { hasPlace, type ResourceNumbers, type Vector } from "./vectors.ts";

/** As many rooms or more stand for larger ones than there are. */
export const MAX_ROOMS = 64;

/**
 * What is free on single nodes where pods with these rules may go. A room that is no larger than another one in any resource is
 * left out. Never less than there is: a pod that has no place in any of these has none on the nodes.
 */
export function freeRooms(rules: NodeRules, { shapes, hiddenLabels }: NodesReport, numbers: ResourceNumbers): Vector[] {
  const rooms: Vector[] = [];
  for (const shape of shapes) {
    if (!matchesLabels(rules, shape, hiddenLabels, UNKNOWN) || blockingTaints(rules, shape).length > 0) continue;
    for (const room of roomsOf(shape, numbers)) add(rooms, room);
  }
  return rooms;
}

/** Whoever may go there. A shape never changes: one with other figures is another object. */
const known = new WeakMap<NodeShape, { readonly numbers: ResourceNumbers; readonly size: number; rooms: Vector[] }>();

function roomsOf(shape: NodeShape, numbers: ResourceNumbers): readonly Vector[] {
  const before = known.get(shape);
  if (before?.numbers === numbers && before.size === numbers.size) return before.rooms;
  const columns = shape.resources.map((resource) => numbers.get(resource));
  const rooms: Vector[] = [];
  for (const { room } of shape.free) {
    const vector = new Array<number>(numbers.size).fill(0);
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i];
      if (column !== undefined) vector[column] = room[i] ?? 0;
    }
    add(rooms, vector);
  }
  known.set(shape, { numbers, size: numbers.size, rooms });
  return rooms;
}

function add(rooms: Vector[], room: Vector): void {
  if (hasPlace(room, rooms)) return;
  for (let i = rooms.length - 1; i >= 0; i--) if (hasPlace(rooms[i] ?? [], [room])) rooms.splice(i, 1);
  const last = rooms.at(-1);
  if (rooms.length < MAX_ROOMS || last === undefined) rooms.push(room);
  else rooms[rooms.length - 1] = room.map((amount, i) => Math.max(amount, last[i] ?? 0));
}
