/** Differences that stay, each with its reason. A difference that no entry explains fails the test. */
interface Explanation {
  readonly id: string;
  readonly reason: string;
  readonly matches: RegExp;
}

const EXPLANATIONS: readonly Explanation[] = [
  {
    id: "null-list",
    reason:
      "An empty list that must be there (PF-17) is null in the server's JSON, here the same as absent, and [] in ours; every reader takes them as one.",
    matches: /^\.[\w.]+: server undefined, ours \[\]$/,
  },
  {
    id: "VC-14",
    reason:
      "Indexed without completions, with a successPolicy rule: the server's validation crashes and the connection breaks. We report the missing completions.",
    matches: /^server: no answer.*; ours: invalid \(.*spec\.completions FieldValueRequired/s,
  },
];

export const explanationOf = (difference: string): Explanation | undefined =>
  EXPLANATIONS.find(({ matches }) => matches.test(difference));
