import type { Controllers } from "./controllers.ts";
import { OURS } from "./controllers.ts";
import { Match, type Verdict } from "./match.ts";
import { RestartGate } from "./restart-gate.ts";
import { type Case, restarts } from "./script.ts";
import { Side, type Stage } from "./side.ts";

/** Cases mostly wait, and many are played at once; bounded by what two cores serve without growing slow. */
const AT_ONCE = 60;
const AT_ONE_RESTART = 40;
const MAX_SHRINK_ROUNDS = 4;

export interface TournamentOptions {
  stage: Stage;
  controllers: Controllers;
  /** The built-in controller plays both sides: whatever disagrees then is this test's own fault. */
  self: boolean;
}

/** Whom the built-in controller is compared with. */
interface Opponent {
  readonly name: string;
  readonly managedBy: string | undefined;
}

export class Tournament {
  readonly #options: TournamentOptions;
  #played = 0;

  constructor(options: TournamentOptions) {
    this.#options = options;
  }

  /** First all cases that leave the controllers alone, then the others in groups that share a restart. */
  async play(cases: readonly Case[], onVerdict: (verdict: Verdict) => void): Promise<void> {
    const queue = cases.filter((play) => !restarts(play));
    const lane = async (): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) onVerdict(await this.#match(next));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    const withRestart = cases.filter(restarts);
    for (let first = 0; first < withRestart.length; first += AT_ONE_RESTART) {
      const group = withRestart.slice(first, first + AT_ONE_RESTART);
      const gate = new RestartGate(group.length, this.#options.controllers);
      await Promise.all(group.map(async (play) => onVerdict(await this.#match(play, gate))));
    }
  }

  /** The shortest script that still disagrees, found by leaving out one step after the other, all variants at once. */
  async shrink(play: Case): Promise<{ play: Case; verdict: Verdict } | undefined> {
    let best: { play: Case; verdict: Verdict } | undefined;
    for (let round = 0; round < MAX_SHRINK_ROUNDS; round++) {
      const from: Case = best?.play ?? play;
      const variants = from.steps.map((_, left) => ({ ...from, steps: from.steps.filter((__, i) => i !== left) }));
      if (from.end === "finish") variants.push({ ...from, end: "leave" });
      const verdicts = await Promise.all(variants.map((variant) => this.#single(variant)));
      const found = verdicts.findIndex(({ disagreement }) => disagreement.length > 0);
      const [smaller, verdict] = [variants[found], verdicts[found]];
      if (smaller === undefined || verdict === undefined) break;
      best = { play: smaller, verdict };
    }
    return best;
  }

  #single(play: Case): Promise<Verdict> {
    // A restart in one variant would hit the others: shrinking leaves such scripts to the reader.
    return restarts(play)
      ? Promise.resolve({ seed: play.seed, disagreement: [], explained: [], played: [], reasons: [], stuck: [] })
      : this.#match(play);
  }

  /** One case against another controller than ours. */
  against(opponent: Opponent, play: Case): Promise<Verdict> {
    return this.#match(play, undefined, opponent);
  }

  #match(play: Case, gate?: RestartGate, opponent = this.#opponent): Promise<Verdict> {
    const { stage } = this.#options;
    const namespace = `play-${++this.#played}-seed-${play.seed}`;
    const sides = [
      new Side(stage, "built-in", `${namespace}-a`, undefined),
      new Side(stage, opponent.name, `${namespace}-b`, opponent.managedBy),
    ] as const;
    return new Match(play, stage, sides, gate).play();
  }

  get #opponent(): Opponent {
    return this.#options.self ? { name: "built-in again", managedBy: undefined } : { name: "ours", managedBy: OURS };
  }
}
