/** A field, by path, and values worth trying in it. */
export type FieldChoices = readonly [path: string, values: readonly [unknown, ...unknown[]]];

export const long = (length: number): string => "a".repeat(length);

export const dnsNames = ["ok", "a.b", "A", "", "-a", "a_b", long(63), long(64), long(254), null, 7] as const;
