import type { AssignmentRef } from "./delivery.ts";
import { MAX_INVENTORY_PAGE } from "./limits.ts";

/** Cuts a list into the numbered pages of one round; an empty list is one empty page. */
export function pagesOf<T>(items: readonly T[], size = MAX_INVENTORY_PAGE): T[][] {
  const pages: T[][] = [];
  for (let start = 0; start < items.length; start += size) pages.push(items.slice(start, start + size));
  return pages.length === 0 ? [[]] : pages;
}

export interface InventoryPage<T extends AssignmentRef> {
  readonly round: number;
  readonly page: number;
  readonly pages: number;
  readonly items: readonly T[];
}

/**
 * Puts the pages of a round together again, in any order. Another round overtakes an unfinished one, whatever its number: a
 * sender that was restarted, or replaced, begins anew. A late echo of an old round does no harm, as each says as of when it is.
 */
export class RoundCollector<T extends AssignmentRef> {
  #round = 0;
  #missing = new Set<number>();
  #items: T[] = [];

  /** All items once the last missing page of the newest round has come. */
  add({ round, page, pages, items }: InventoryPage<T>): T[] | undefined {
    if (round !== this.#round) {
      this.#round = round;
      this.#missing = new Set(Array.from({ length: pages }, (_, index) => index + 1));
      this.#items = [];
    }
    if (!this.#missing.delete(page)) return undefined;
    this.#items.push(...items);
    return this.#missing.size === 0 ? this.#items : undefined;
  }
}
