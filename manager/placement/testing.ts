import type { Candidate } from "./eligibility.ts";
import { needs } from "./fit/testing.ts";

/** One pod of half a CPU that may go anywhere. */
export const aCandidate = (over: Partial<Candidate> = {}): Candidate => ({
  namespace: "team",
  clusterSelector: "",
  matchesCluster: () => true,
  where: "",
  simple: true,
  ...needs({ asks: { cpu: 500 } }),
  refusedBy: new Map(),
  ...over,
});
