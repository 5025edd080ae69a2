import type { AssignmentRef } from "./delivery.ts";
import { MAX_INVENTORY_PAGE } from "./limits.ts";

/** Cuts a list into the numbered pages of one round; an empty list is one empty page. */
export function pagesOf<T>(items: readonly T[], size = MAX_INVENTORY_PAGE): T[][] {
  const pages: T[][] = [];
  for (let start = 0; start < items.length; start += size) pages.push(items.slice(start, start + size));
  return pages.length === 0 ? [[]] : pages;
}

/** Names the rounds of one sender, so that pages of two senders are never put together. */
export class RoundNames {
  readonly #sender: string;
  #count = 0;

  /** `sender`: unlike that of any other process. */
  constructor(sender: string) {
    this.#sender = sender;
  }

  next(): string {
    return `${this.#sender}:${++this.#count}`;
  }
}

export interface InventoryPage<T extends AssignmentRef> {
  readonly round: string;
  readonly page: number;
  readonly pages: number;
  readonly items: readonly T[];
}

/**
 * Puts the pages of a round together again, in any order. Another round overtakes an unfinished one: its sender
 * was restarted, or replaced. A late echo of an old round does no harm, as each says as of when it is.
 */
export class RoundCollector<T extends AssignmentRef> {
  #round = "";
  #missing = new Set<number>();
  /** By UID: a page that names one a thousand times costs no more than one that names it once. */
  #items = new Map<string, T>();

  /** All items once the last missing page of the newest round has come. */
  add({ round, page, pages, items }: InventoryPage<T>): T[] | undefined {
    if (round !== this.#round) {
      this.#round = round;
      this.#missing = new Set(Array.from({ length: pages }, (_, index) => index + 1));
      this.#items = new Map();
    }
    if (!this.#missing.delete(page)) return undefined;
    for (const item of items) this.#items.set(item.uid, item);
    return this.#missing.size === 0 ? [...this.#items.values()] : undefined;
  }
}
