/**
 * How much is free on how many nodes. A sum would hide that no single node has room; a row for each node would be too much.
 * Nodes with the same room share a row; when there are too many rows, nodes with about the same room do, and the row has the
 * least of each figure: it never promises what a node does not have.
 */

export interface FreeRow {
  readonly nodes: number;
  /** By the shape's resources. */
  readonly room: readonly number[];
  readonly names?: readonly string[] | undefined;
}

/** Parts of a whole node by which room is told apart, from fine to coarse. */
const STEPS = [64, 16, 4];

/**
 * `whole`: an empty node. `pieces`: which resources come in pieces (GPUs) and are never told apart by parts of a node. They
 * should stand first: rows that must be joined are neighbours in the order of their figures.
 */
export function freeRows(
  rows: readonly FreeRow[],
  whole: readonly number[],
  pieces: readonly boolean[],
  limit: number,
): FreeRow[] {
  let groups = grouped(rows, (room) => room, limit);
  for (const steps of STEPS) {
    if (groups !== undefined) break;
    const levels = (room: readonly number[]): number[] =>
      room.map((value, i) => (pieces[i] ? value : levelOf(value, whole[i] ?? 0, steps)));
    groups = grouped(rows, levels, steps === STEPS.at(-1) ? Number.POSITIVE_INFINITY : limit);
  }
  const sorted = [...(groups ?? [])].sort((one, other) => compare(one.levels, other.levels));
  const each = Math.ceil(sorted.length / limit);
  const result: FreeRow[] = [];
  for (let from = 0; from < sorted.length; from += each)
    result.push(join(sorted.slice(from, from + each).flatMap(({ members }) => members)));
  return result;
}

const levelOf = (value: number, whole: number, steps: number): number =>
  whole <= 0 ? value : Math.floor((value * steps) / whole);

interface Group {
  readonly levels: readonly number[];
  readonly members: FreeRow[];
}

/** Undefined when there are more than the limit. */
function grouped(
  rows: readonly FreeRow[],
  levelsOf: (room: readonly number[]) => readonly number[],
  limit: number,
): Iterable<Group> | undefined {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const levels = levelsOf(row.room);
    const key = levels.join();
    const group = groups.get(key);
    if (group !== undefined) group.members.push(row);
    else if (groups.size === limit) return undefined;
    else groups.set(key, { levels, members: [row] });
  }
  return groups.values();
}

function join(rows: readonly FreeRow[]): FreeRow {
  const room = [...(rows[0]?.room ?? [])];
  for (const row of rows) for (const [i, amount] of row.room.entries()) room[i] = Math.min(room[i] ?? 0, amount);
  const nodes = rows.reduce((sum, row) => sum + row.nodes, 0);
  const names = rows.flatMap((row) => row.names ?? []);
  return { nodes, room, ...(names.length === nodes ? { names } : {}) };
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [i, level] of one.entries()) if (level !== other[i]) return level - (other[i] ?? 0);
  return 0;
}
