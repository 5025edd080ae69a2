/** The known name that is most like `name`, if one is like it at all. `redis-url` and `RedisURL` are both like `redisUrl`. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name);
  let nearest: string | undefined;
  let least = Math.floor(wanted.length / 3) + 1;
  for (const candidate of known) {
    const edits = editsBetween(wanted, plain(candidate));
    if (edits < least) [least, nearest] = [edits, candidate];
  }
  return nearest;
}

/** Longer names are nobody's typing mistake, and would cost time. */
const MAX_LENGTH = 100;

const plain = (name: string): string => name.slice(0, MAX_LENGTH).toLowerCase().replaceAll(/[-_]/g, "");

/** How many letters must be put in, taken out or replaced: Levenshtein's distance, row by row. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const letter of one) {
    let diagonal = row[0] ?? 0;
    let left = diagonal + 1;
    row = row.map((above, column) => {
      if (column > 0) {
        const replaced = diagonal + (other[column - 1] === letter ? 0 : 1);
        left = Math.min(above + 1, left + 1, replaced);
        diagonal = above;
      }
      return left;
    });
  }
  return row[other.length] ?? 0;
}
