/** ResourceVersions of one resource compare as integers, of any length (SW-8). */
export const isNewerVersion = (one: string, other: string): boolean =>
  one.length === other.length ? one > other : one.length > other.length;
