import type { NodeShapes } from "./shapes.ts";

type Sums = Map<string, number>;

export interface RoomReport {
  capacity: Record<string, string>;
  free: Record<string, string>;
  largestFreeNode: Record<string, string>;
  largestNode: Record<string, string>;
}

/** What the nodes that take pods have in all, and the largest of them alone. */
export function roomReport(shapes: NodeShapes): RoomReport {
  const capacity: Sums = new Map();
  const free: Sums = new Map();
  const largestFreeNode: Sums = new Map();
  const largestNode: Sums = new Map();
  for (const room of shapes.rooms())
    for (const [i, resource] of room.resources.entries()) {
      add(capacity, resource, room.capacity[i] ?? 0);
      add(free, resource, room.free[i] ?? 0);
      raise(largestNode, resource, room.largestNode[i] ?? 0);
      raise(largestFreeNode, resource, room.largestFreeNode[i] ?? 0);
    }
  return {
    capacity: quantities(capacity),
    free: quantities(free),
    largestFreeNode: quantities(largestFreeNode),
    largestNode: quantities(largestNode),
  };
}

const add = (sums: Sums, resource: string, amount: number): void => {
  sums.set(resource, (sums.get(resource) ?? 0) + amount);
};

const raise = (peaks: Sums, resource: string, amount: number): void => {
  peaks.set(resource, Math.max(peaks.get(resource) ?? 0, amount));
};

const quantities = (sums: Sums): Record<string, string> =>
  Object.fromEntries(
    [...sums].map(([resource, units]) => [resource, resource === "cpu" ? `${units}m` : String(units)]),
  );
