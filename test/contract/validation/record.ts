import { differences } from "./difference.ts";
import { explanationOf } from "./explained.ts";
import type { Verdict } from "./verdict.ts";

const MAX_SHOWN = 20;

/** Collects what the two sides said. */
export class Record {
  readonly outcomes: { [outcome: string]: number } = {};
  readonly causes = new Set<string>();
  readonly explained: { [id: string]: number } = {};
  readonly #disagreements: string[] = [];

  compare(theirs: Verdict, ours: Verdict, story: string): void {
    this.outcomes[theirs.outcome] = (this.outcomes[theirs.outcome] ?? 0) + 1;
    if (theirs.outcome === "invalid") for (const cause of theirs.causes) this.causes.add(cause);
    for (const difference of differences(theirs, ours)) {
      const id = explanationOf(difference, story)?.id;
      if (id === undefined) this.#disagreements.push(`${story}\n    ${difference.slice(0, 500)}`);
      else this.explained[id] = (this.explained[id] ?? 0) + 1;
    }
  }

  /** Bounded, for the failure message. */
  get disagreements(): string[] {
    const more = this.#disagreements.length - MAX_SHOWN;
    return [...this.#disagreements.slice(0, MAX_SHOWN), ...(more > 0 ? [`... and ${more} more`] : [])];
  }

  summary(title: string): string {
    const count = Object.values(this.outcomes).reduce((sum, number) => sum + number, 0);
    const tally = Object.entries(this.outcomes).map(([outcome, number]) => `${number} ${outcome}`);
    const explained = Object.entries(this.explained).map(([id, number]) => `${id} x${number}`);
    return `${title}: ${count} requests (${tally.join(", ")}), ${this.causes.size} distinct causes; explained: ${explained.join(", ") || "none"}`;
  }
}
