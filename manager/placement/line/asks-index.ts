import { hasPlace, type Vector } from "../fit/vectors.ts";
import { goesBefore, type WaitingJob } from "./job-heap.ts";

interface Member {
  readonly asks: Vector;
  /** Its place in the order. To be deleted before it changes, and added again. */
  readonly first: WaitingJob;
}

interface Cell<T> {
  /** No member asks for less. */
  floor: number[];
  /** In the order in which they go. */
  readonly members: T[];
}

/** Of those that ask for about the same, one that asks for a little too much must not hide all others. */
const HEADS = 4;

/**
 * Finds those that ask for no more than there is without looking at the others. Members that ask for about the same, to a
 * factor of 1.4 in each resource, share a cell, and cells whose least is too much are passed over whole.
 */
export class AsksIndex<T extends Member> {
  readonly #cells = new Map<string, Cell<T>>();

  get isEmpty(): boolean {
    return this.#cells.size === 0;
  }

  add(member: T): void {
    const key = cellOf(member.asks);
    const cell = this.#cells.get(key);
    if (cell === undefined) {
      this.#cells.set(key, { floor: [...member.asks], members: [member] });
      return;
    }
    cell.members.splice(placeIn(cell.members, member), 0, member);
    cell.floor = cell.floor.map((amount, i) => Math.min(amount, member.asks[i] ?? 0));
  }

  delete(member: T): void {
    const key = cellOf(member.asks);
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.members.splice(placeIn(cell.members, member), 1);
    if (cell.members.length === 0) this.#cells.delete(key);
  }

  /** The first ones of each cell. */
  *heads(): Generator<T> {
    for (const { members } of this.#cells.values()) yield* members.slice(0, HEADS);
  }

  /**
   * Calls back for members that have place in one of the rooms, and go before `before()` if that is known. A member that is
   * taken (true) ends its cell: those behind it come later.
   */
  visit(
    rooms: readonly Vector[] | undefined,
    before: () => WaitingJob | undefined,
    take: (member: T) => boolean,
  ): void {
    const most = rooms === undefined ? undefined : [largest(rooms)];
    for (const { floor, members } of this.#cells.values()) {
      if (!isBefore(members[0], before()) || !hasPlace(floor, most)) continue;
      for (const member of members) {
        if (!isBefore(member, before())) break;
        if (hasPlace(member.asks, most) && hasPlace(member.asks, rooms) && take(member)) break;
      }
    }
  }
}

const isBefore = (member: Member | undefined, other: WaitingJob | undefined): boolean =>
  member !== undefined && (other === undefined || goesBefore(member.first, other));

/** Of each resource what the room has that has the most of it. */
function largest(rooms: readonly Vector[]): Vector {
  const most: number[] = [];
  for (const room of rooms) for (let i = 0; i < room.length; i++) most[i] = Math.max(most[i] ?? 0, room[i] ?? 0);
  return most;
}

/** Where the member is, or would be. */
export function placeIn(sorted: readonly Pick<Member, "first">[], { first }: Pick<Member, "first">): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle]?.first;
    if (other !== undefined && goesBefore(other, first)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const cellOf = (asks: Vector): string =>
  asks.map((amount) => (amount <= 0 ? 0 : Math.floor(2 * Math.log2(amount)) + 1)).join();
