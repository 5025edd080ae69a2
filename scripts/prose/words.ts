/** Phrases that style forbids, each with what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bthe begin\b/i, "the start"],
  [/(?<!\bthere )\b(is|are|was|were) no (?!longer\b|more\b|less\b|\w+er than\b|one\b)\w+/i, "is not a"],
  [/\bso (long|many|much)\b(?! (that|as)\b)/i, "this long, this many"],
  [/\bin vain\b/i, "without success"],
  [/\bwhereof|thereof|therein|thereby|hence\b/i, "a plainer word"],
];

export interface Misused {
  readonly line: number;
  readonly phrase: string;
  readonly better: string;
}

export function misusedPhrases(text: string): Misused[] {
  return text.split("\n").flatMap((line, index) =>
    PHRASES.flatMap(([pattern, better]) => {
      const phrase = pattern.exec(line)?.[0];
      return phrase === undefined ? [] : [{ line: index + 1, phrase, better }];
    }),
  );
}
