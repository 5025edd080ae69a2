import type { Verdict } from "./match.ts";

interface Explanation {
  /** Behaviour id in the specification of the Job controller. */
  id: string;
  why: string;
  covers(verdict: Verdict): boolean;
}

/** Every disagreement that is meant to be. Anything else is a bug in our controller or in this test. */
const EXPLANATIONS: readonly Explanation[] = [
  {
    id: "SU-12",
    why: "The built-in controller cannot finish a Job that reaches its end while suspended: it has cleared startTime, and the API server wants one. Ours sets it.",
    covers: ({ stuck, disagreement }) =>
      disagreement.some((line) => line.startsWith("built-in has left to do") && line.includes("S-12")) &&
      disagreement.some((line) => line.startsWith("ours has left to do: nothing")) &&
      stuck.length === 0,
  },
];

export function explanationOf(verdict: Verdict): string | undefined {
  const explanation = EXPLANATIONS.find(({ covers }) => covers(verdict));
  return explanation && `${explanation.id}: ${explanation.why}`;
}
