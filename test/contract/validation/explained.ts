/** Differences that stay, each with its reason. A difference that no entry explains fails the test. */
interface Explanation {
  readonly id: string;
  readonly reason: string;
  readonly matches: RegExp;
  /** What the request must have in it. */
  readonly edit?: string;
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
  {
    id: "AP-1",
    reason:
      "The server tells an empty map of template labels from none: the Job then shares the map, and so an over-long name's generated label is reported on the Job as well. Our decoder takes both as none; the verdict is the same.",
    matches: /^only the server: metadata\.labels FieldValueInvalid$/,
    edit: "spec.template.metadata.labels = {}",
  },
];

export const explanationOf = (difference: string, story: string): Explanation | undefined =>
  EXPLANATIONS.find(({ matches, edit }) => matches.test(difference) && (edit === undefined || story.includes(edit)));
