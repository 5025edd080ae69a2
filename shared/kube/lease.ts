import { type Clock, sleep } from "../runtime/clock.ts";
import { type Logger, silentLogger } from "../runtime/logger.ts";
import { type Random, realRandom } from "../runtime/random.ts";
import type { KubeApi, ObjectKey } from "./api.ts";
import { ApiError, isNotFound } from "./errors.ts";
import { type Lease, leases } from "./resources.ts";

export interface LeaderElectorOptions {
  api: KubeApi;
  clock: Clock;
  lease: Required<ObjectKey>;
  /** Unique to this process, e.g. host name and a random suffix. */
  identity: string;
  /**
   * Runs while we lead; must return soon after `signal` aborts, because the Lease is then lost or about to be given up. `holds`
   * is to be asked before each write: it sees time that passed while this process, or its machine, stood still.
   */
  lead(signal: AbortSignal, holds: () => boolean): Promise<void>;
  /** Others take over when the Lease has not changed for this long. */
  durationMs?: number;
  /** We hold the Lease no longer when we could not renew for this long; must be shorter than `durationMs`. */
  renewDeadlineMs?: number;
  /**
   * `end` (unless given): after that deadline `lead` is stopped. `hold`: it goes on without `holds` until the Lease is renewed,
   * or turns out to be somebody else's; for those whose API server may be away for long, and who have more to do than to write.
   */
  atDeadline?: "end" | "hold";
  /** Between tries to acquire or renew. */
  retryMs?: number;
  random?: Random;
  logger?: Logger;
  onLeaderChange?(identity: string): void;
}

/**
 * Waiting -> leading -> waiting, until stopped.
 *
 * Waiting: read the Lease every `retryMs`. It is free when nobody holds it, or when it has looked the same to us for its
 * whole duration on our own monotonic clock; the times written in it come from other machines and are never compared.
 * Leading: renew every `retryMs`. The deadline counts from the moment the last successful renewal was *sent*, so that we
 * stop before anyone who saw that renewal may take over. A machine that was suspended has a monotonic clock that stood still:
 * the time of day counts, too.
 * Stopped while leading: `lead` ends first, then the Lease is given up, so that the next one need not wait.
 */
export class LeaderElector {
  readonly #options: Required<Omit<LeaderElectorOptions, "onLeaderChange">>;
  readonly #onLeaderChange: ((identity: string) => void) | undefined;
  #seen: Lease | undefined;
  #seenAt = 0;
  #leader = "";
  /** When the last renewal was sent, on the monotonic clock and by the time of day: the former stands while a machine sleeps. */
  #renewedAt = { monotonic: 0, wall: 0 };
  #leading = false;
  #problem: string | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = {
      durationMs: 15_000,
      renewDeadlineMs: 10_000,
      atDeadline: "end",
      retryMs: 2_000,
      random: realRandom,
      logger: silentLogger,
      ...options,
    };
    this.#onLeaderChange = options.onLeaderChange;
    const { durationMs, renewDeadlineMs, retryMs } = this.#options;
    if (!(retryMs < renewDeadlineMs && renewDeadlineMs < durationMs))
      throw new RangeError("a Lease needs retryMs < renewDeadlineMs < durationMs");
  }

  get isLeading(): boolean {
    return this.#leading;
  }

  /** Who holds the Lease as far as we know; empty when nobody. */
  get leader(): string {
    return this.#leader;
  }

  /** Why we cannot tell who holds it; undefined when we can. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when `signal` aborts and the Lease is given up; rejects only with what `lead` throws. */
  async start(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#tryHold(signal)) await this.#leadUntilLost(signal);
      else await this.#pause(signal);
    }
  }

  async #leadUntilLost(signal: AbortSignal): Promise<void> {
    const { lead, logger, identity } = this.#options;
    const tenure = new AbortController();
    const onStop = (): void => tenure.abort(signal.reason);
    signal.addEventListener("abort", onStop, { once: true });
    if (signal.aborted) onStop();
    this.#leading = true;
    logger.info({ identity }, "leading");
    const renewing = this.#keepRenewing(tenure);
    try {
      await lead(tenure.signal, () => this.#holds(tenure));
    } finally {
      this.#leading = false;
      const lost = tenure.signal.aborted && !signal.aborted;
      tenure.abort(new Error("no longer leading"));
      signal.removeEventListener("abort", onStop);
      await renewing;
      if (!lost) await this.#release();
      logger.info({ identity, lost }, "no longer leading");
    }
  }

  #holds(tenure: AbortController): boolean {
    if (tenure.signal.aborted) return false;
    if (this.#leftMs() > 0) return true;
    if (this.#options.atDeadline === "end") tenure.abort(new Error("the Lease was not renewed in time"));
    return false;
  }

  /** Until the deadline. A time of day that was set forward costs a tenure at most, one that was set back nothing. */
  #leftMs(): number {
    const { clock, renewDeadlineMs } = this.#options;
    const { monotonic, wall } = this.#renewedAt;
    return renewDeadlineMs - Math.max(clock.monotonic() - monotonic, clock.now() - wall);
  }

  /** Ends, aborting the tenure, when someone else holds the Lease, or the deadline passes. */
  async #keepRenewing(tenure: AbortController): Promise<void> {
    const { clock, atDeadline } = this.#options;
    let cancel = (): void => {};
    const armDeadline = (): void => {
      cancel();
      if (atDeadline === "end")
        cancel = clock.after(this.#leftMs(), () => tenure.abort(new Error("could not renew the Lease in time")));
    };
    armDeadline();
    while (!tenure.signal.aborted) {
      await this.#pause(tenure.signal);
      if (tenure.signal.aborted) break;
      if (await this.#tryHold(tenure.signal)) armDeadline();
      else if (this.#leader !== this.#options.identity) tenure.abort(new Error(`the Lease went to ${this.#leader}`));
    }
    cancel();
  }

  /** One try to acquire or renew. False when someone else holds it, and when we cannot tell. */
  async #tryHold(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const sent = { monotonic: clock.monotonic(), wall: clock.now() };
    try {
      const isHeld = await this.#readOrWrite(signal);
      this.#problem = undefined;
      if (isHeld) this.#renewedAt = sent;
      return isHeld;
    } catch (error) {
      if (signal.aborted) return false;
      this.#problem = (error as Error).message;
      this.#options.logger.warn({ error }, "could not reach the Lease");
      return false;
    }
  }

  async #readOrWrite(signal: AbortSignal): Promise<boolean> {
    if (this.#leading && this.#seen !== undefined && (await this.#write(this.#seen, signal))) return true;
    const current = await this.#read(signal);
    if (current !== undefined && !this.#isFree(current)) return false;
    return this.#write(current, signal);
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    const { api, lease } = this.#options;
    try {
      const current = await api.get(leases, lease, { signal, timeoutMs: this.#callMs });
      if (current.metadata.resourceVersion !== this.#seen?.metadata.resourceVersion) this.#observe(current);
      return current;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  #isFree({ spec = {} }: Lease): boolean {
    const holder = spec.holderIdentity ?? "";
    if (holder === "" || holder === this.#options.identity) return true;
    const lastsMs =
      spec.leaseDurationSeconds === undefined ? this.#options.durationMs : spec.leaseDurationSeconds * 1000;
    return this.#options.clock.monotonic() >= this.#seenAt + lastsMs;
  }

  /** False when someone was faster. */
  async #write(current: Lease | undefined, signal: AbortSignal): Promise<boolean> {
    const { api, lease, clock, identity, durationMs } = this.#options;
    const now = microTime(clock.now());
    const mine = current?.spec?.holderIdentity === identity;
    const changes = (current?.spec?.leaseTransitions ?? -1) + (mine ? 0 : 1);
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      acquireTime: (mine ? current.spec?.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: Math.max(0, changes),
    };
    const options = { signal, timeoutMs: this.#callMs };
    try {
      this.#observe(
        current === undefined
          ? await api.create(leases, lease.namespace, { metadata: { ...lease }, spec }, options)
          : await api.replace(leases, lease, { ...current, spec: { ...current.spec, ...spec } }, options),
      );
      return true;
    } catch (error) {
      if (isConflictOrGone(error)) return false;
      throw error;
    }
  }

  async #release(): Promise<void> {
    const { api, lease, clock, identity, logger } = this.#options;
    const options = { timeoutMs: this.#callMs };
    try {
      // A renewal that was cut off may still have been applied: only the server knows the version to give up.
      const current = await api.get(leases, lease, options);
      if (current.spec?.holderIdentity !== identity) return;
      const now = microTime(clock.now());
      const spec = { ...current.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
      this.#observe(await api.replace(leases, lease, { ...current, spec }, options));
    } catch (error) {
      logger.warn({ error }, "could not give up the Lease, it will run out");
    }
  }

  #observe(lease: Lease): void {
    this.#seen = lease;
    this.#seenAt = this.#options.clock.monotonic();
    const holder = lease.spec?.holderIdentity ?? "";
    if (holder === this.#leader) return;
    this.#leader = holder;
    this.#onLeaderChange?.(holder);
  }

  /** A call that hangs must leave time for another before the deadline. */
  get #callMs(): number {
    return this.#options.renewDeadlineMs / 2;
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, retryMs, random } = this.#options;
    await sleep(clock, retryMs * (1 + 0.2 * random()), signal).catch(() => {});
  }
}

const isConflictOrGone = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 409 || error.code === 404);

/** `metav1.MicroTime`. */
const microTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;
