/** The rules that a sync is made of. They are passed along as one object so that a test can replace a single rule. */
import { admit } from "./admit.ts";
import { nextBackoff } from "./backoff.ts";
import { planClaim } from "./claim.ts";
import { factsOf, newlyFinished, uncountedOf } from "./classify.ts";
import { countsAfter } from "./counts.ts";
import { isSatisfied } from "./expectations.ts";
import { mayFinish } from "./finish.ts";
import { indexState } from "./indexed.ts";
import { isOrphanToRelease } from "./orphan.ts";
import { decideOutcome, isPlainlyComplete, timeToDeadline } from "./outcome.ts";
import { planScale } from "./scale.ts";
import { suspendChange } from "./suspend.ts";
import { mayRelease, moveCounted } from "./tracking.ts";
import { staleCache } from "./write-record.ts";

export interface Rules {
  staleCache: typeof staleCache;
  admit: typeof admit;
  isSatisfied: typeof isSatisfied;
  planClaim: typeof planClaim;
  factsOf: typeof factsOf;
  uncountedOf: typeof uncountedOf;
  newlyFinished: typeof newlyFinished;
  indexState: typeof indexState;
  nextBackoff: typeof nextBackoff;
  decideOutcome: typeof decideOutcome;
  timeToDeadline: typeof timeToDeadline;
  planScale: typeof planScale;
  countsAfter: typeof countsAfter;
  isPlainlyComplete: typeof isPlainlyComplete;
  suspendChange: typeof suspendChange;
  mayRelease: typeof mayRelease;
  moveCounted: typeof moveCounted;
  mayFinish: typeof mayFinish;
  isOrphanToRelease: typeof isOrphanToRelease;
}

export const rules: Rules = {
  staleCache,
  admit,
  isSatisfied,
  planClaim,
  factsOf,
  uncountedOf,
  newlyFinished,
  indexState,
  nextBackoff,
  decideOutcome,
  timeToDeadline,
  planScale,
  countsAfter,
  isPlainlyComplete,
  suspendChange,
  mayRelease,
  moveCounted,
  mayFinish,
  isOrphanToRelease,
};
