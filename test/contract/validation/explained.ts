/** Differences that stay, each with its reason. A difference that no entry explains fails the test. */
interface Explanation {
  readonly id: string;
  readonly reason: string;
  readonly matches: RegExp;
}

const EXPLANATIONS: readonly Explanation[] = [
  {
    id: "PF-17",
    reason:
      "An empty list that must be there is null, here the same as absent, in the server's JSON and [] in ours; every reader takes them as one.",
    matches: /^\.spec\.podFailurePolicy\.rules: server undefined, ours \[\]$/,
  },
  {
    id: "VC-14",
    reason:
      "Indexed without completions, with a successPolicy rule: the server's validation crashes and answers 500. We report the missing completions.",
    matches: /^server: 500 .*; ours: invalid \(.*spec\.completions FieldValueRequired/s,
  },
];

export const explanationOf = (difference: string): Explanation | undefined =>
  EXPLANATIONS.find(({ matches }) => matches.test(difference));
