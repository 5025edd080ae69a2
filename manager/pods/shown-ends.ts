import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";

/** The report on the pods comes with that of the Job's end; a hub that is slower than this does not keep the end back any longer. */
const HELD_MS = 2_000;

/** Of which Jobs all pods are shown to have ended, and which ends are kept back until they are. */
export class ShownEnds {
  readonly #clock: Clock;
  readonly #onShown: (uid: HubUid) => void;
  readonly #shown = new Set<HubUid>();
  /** Since when. */
  readonly #held = new Map<HubUid, number>();

  constructor(clock: Clock, onShown: (uid: HubUid) => void) {
    this.#clock = clock;
    this.#onShown = onShown;
  }

  /** How long the end of this Job is kept back at most; 0: no longer. */
  heldMs(uid: HubUid): number {
    if (this.#shown.has(uid)) return 0;
    const since = this.#held.get(uid) ?? this.#clock.monotonic();
    this.#held.set(uid, since);
    return Math.max(0, since + HELD_MS - this.#clock.monotonic());
  }

  /** The end of this Job waits for its shadows. */
  isHeld(uid: HubUid): boolean {
    return this.#held.has(uid);
  }

  /** The shadows of this Job are as they should be for now. */
  settled(uid: HubUid, haveEnded: boolean): void {
    if (!haveEnded) {
      this.#shown.delete(uid);
      return;
    }
    this.#shown.add(uid);
    if (this.#held.delete(uid)) this.#onShown(uid);
  }

  forget(uid: HubUid): void {
    this.#shown.delete(uid);
    this.#held.delete(uid);
  }
}
