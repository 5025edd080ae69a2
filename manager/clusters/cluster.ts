import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";
import { type PublicKey, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { parseDuration } from "@jobferry/shared/runtime/duration.ts";
import type { Random } from "@jobferry/shared/runtime/random.ts";
import { Breaker } from "./breaker.ts";
import { Capacity } from "./capacity.ts";
import { type Challenge, Freshness, type Verdict } from "./freshness.ts";
import type { Health } from "./health.ts";
import { RecentHighest } from "./recent-highest.ts";
import { Silence } from "./silence.ts";

const DEFAULT_LOST_AFTER_MS = 15 * 60_000;

/**
 * Reports on Jobs may be old ones that somebody sends again, so they are signs of life only for this long after the last proof of
 * it: long enough for a heartbeat to get through behind thousands of them.
 */
const PROVEN_MS = 60_000;

/** More than any API server writes from one heartbeat to the next. */
const SEQ_SLACK = 1_000_000;

/** A million writes a second for nine years. */
const HIGHEST_REVISION = 2 ** 48;
/** Clocks that differ by less are taken for equal: a message may have been on its way for as long. */
const NOTABLE_SKEW_MS = 60_000;
/** A difference that is known is corrected only when it is clearly another one, so that times do not flicker. */
const SKEW_NOISE_MS = 15_000;

/** A worker cluster as the manager knows it: what its object says, what its agent says, and how long it is silent. */
export class Cluster {
  readonly name: ClusterName;
  readonly capacity = new Capacity();
  /** Numbers of reports: what this cluster's API server has been heard to count. */
  readonly recentSeq: RecentHighest;
  readonly silence: Silence;
  readonly breaker: Breaker;
  readonly #clock: Clock;
  /** The public half of the manager's own key. */
  readonly #managerKey: string;
  #object: WorkerCluster;
  #keys: readonly PublicKey[];
  readonly #freshness: Freshness;
  #health: Health | undefined;
  /** What was said last, while nothing fresh has come since. */
  #unproven: Health | undefined;
  #provenAt = Number.NEGATIVE_INFINITY;
  /** Added to hub revisions in messages to this cluster. */
  #revisionOffset = 0;
  #aheadMs = 0;
  #refusal: string | undefined;

  constructor(name: ClusterName, object: WorkerCluster, clock: Clock, random: Random, managerKey: string) {
    this.name = name;
    this.#freshness = new Freshness(random);
    this.#clock = clock;
    this.recentSeq = new RecentHighest(clock);
    this.#managerKey = managerKey;
    this.#object = object;
    this.#keys = keysOf(object.spec);
    const { silentSeconds = 0, lastContactTime, setAside } = object.status ?? {};
    const leftMs = (Date.parse(setAside?.until ?? "") || 0) - clock.now();
    this.breaker = new Breaker(
      setAside === undefined ? undefined : { leftMs, times: setAside.times, why: setAside.reason },
      clock.monotonic(),
    );
    const wasHeard = lastContactTime !== undefined;
    this.silence = new Silence(lostAfterOf(object), silentSeconds * 1000, wasHeard, clock.monotonic());
  }

  /** From the watch, or as it came back from a write of ours, whichever is newer. */
  update(object: WorkerCluster): void {
    if (isOlder(object, this.#object)) return;
    if (!hasSameKeys(object, this.#object)) this.#keys = keysOf(object.spec);
    this.#object = object;
    this.silence.lostAfterMs = lostAfterOf(object);
  }

  get object(): WorkerCluster {
    return this.#object;
  }

  get keys(): readonly PublicKey[] {
    return this.#keys;
  }

  get health(): Health | undefined {
    return this.#health;
  }

  /** A hello or heartbeat that opens. Only a fresh one counts; of others we keep who claims to speak, for people to see. */
  contact(health: Health): Verdict {
    const verdict = this.#freshness.judge(health, this.#clock.monotonic());
    if (verdict === "fresh") this.heard(health);
    if (verdict === "unproven") {
      this.#unproven = health;
      this.#refusal = undefined;
    }
    return verdict;
  }

  /** What to tell the agent that has just spoken. One that does not trust us could not read it. */
  challenge({ nonce, managerKeys }: Health): Challenge | undefined {
    if (nonce === undefined || !managerKeys.includes(this.#managerKey)) return undefined;
    return this.#freshness.challenge(this.#clock.monotonic());
  }

  /** Two agents speak under this name, with the same keys. */
  get isDoubled(): boolean {
    return this.#freshness.isDoubled(this.#clock.monotonic());
  }

  /** Some other report. */
  signOfLife(): void {
    if (this.#clock.monotonic() - this.#provenAt <= PROVEN_MS) this.heard();
  }

  /**
   * There is contact unless it comes from a cluster that took the name of the one enrolled, or from an agent that would not take our
   * answer: both must hear each other.
   */
  heard(health?: Health): void {
    this.#refusal = undefined;
    if (health !== undefined) {
      this.#health = health;
      this.#unproven = undefined;
      this.#provenAt = this.#clock.monotonic();
      this.capacity.report(health);
      this.recentSeq.note(health.resourceVersion);
      if (health.now !== undefined) this.#readClock(health.now);
    }
    if (!this.isRebuilt && !this.#distrusts(this.#health)) this.silence.heard(this.#clock.monotonic());
  }

  /** A message under this name could not be opened. Anybody may have written it: it explains a silence and proves nothing. */
  refused(why: string): void {
    this.#refusal = why;
  }

  /** Why its last message was refused, until one is accepted. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  get isConnected(): boolean {
    return !this.#distrusts(this.#health) && this.silence.isConnected(this.#clock.monotonic());
  }

  get unheardMs(): number {
    return this.silence.unheardMs(this.#clock.monotonic());
  }

  /** Seconds of silence by what the hub stores. */
  get storedSilence(): number {
    return this.#object.status?.silentSeconds ?? 0;
  }

  get isDraining(): boolean {
    return this.#object.spec.drain === true;
  }

  /** The agent speaks for another cluster than the one that was enrolled (rebuilt under the same name). */
  get isRebuilt(): boolean {
    const enrolled = this.#object.status?.clusterID;
    const said = this.#unproven ?? this.#health;
    return enrolled !== undefined && said !== undefined && said.clusterID !== enrolled;
  }

  /** Its agent was given another manager's key, and refuses whatever we send. */
  get distrustsUs(): boolean {
    return this.#distrusts(this.isConnected ? this.#health : (this.#unproven ?? this.#health));
  }

  #distrusts(health: Health | undefined): boolean {
    return health !== undefined && !health.managerKeys.includes(this.#managerKey);
  }

  /** UID of the cluster that speaks under this name; undefined before it has said so. */
  get clusterID(): string | undefined {
    return this.#health?.clusterID;
  }

  /** No report of this cluster has a higher number, if its agent is sane. */
  get plausibleSeq(): number {
    return (this.#health?.resourceVersion ?? Number.POSITIVE_INFINITY) + SEQ_SLACK;
  }

  /** A stored report with a higher number is of a past that the cluster has forgotten. */
  get highestSeq(): number {
    return Math.min(this.plausibleSeq, this.recentSeq.value);
  }

  /** Its clock is this far ahead of ours, in ms; 0 for what a message's way may explain. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  #readClock(workerNow: number): void {
    const ahead = Math.round((workerNow - this.#clock.now()) / 1000) * 1000;
    if (Math.abs(ahead) < NOTABLE_SKEW_MS) this.#aheadMs = 0;
    else if (Math.abs(ahead - this.#aheadMs) > SKEW_NOISE_MS) this.#aheadMs = ahead;
  }

  /**
   * Messages are told apart by the hub's revision, which goes back when the hub's etcd is restored from a backup. For an agent
   * that has seen more it goes on where it was.
   */
  revisionOf(hubRevision: number): number {
    return hubRevision + this.#revisionOffset;
  }

  /** The agent has seen a later revision than this one of the hub. */
  hasSeenBeyond(hubRevision: number): boolean {
    return this.#hubRevisionSeen > this.revisionOf(hubRevision);
  }

  /** What an agent reads off annotations of its mirrors may be made up: a number that no hub reaches counts for nothing. */
  get #hubRevisionSeen(): number {
    const { hubRevision = 0 } = this.#health ?? {};
    return hubRevision > HIGHEST_REVISION ? 0 : hubRevision;
  }

  /** Read from the hub itself, past any cache: it is at `hubRevision` now. */
  continueFrom(hubRevision: number): void {
    const seen = this.#hubRevisionSeen;
    if (seen > this.revisionOf(hubRevision)) this.#revisionOffset = seen - hubRevision;
  }

  /** Why nothing can be placed here, connected or not. */
  get notReady(): string | undefined {
    if (this.isRebuilt) return "the cluster was rebuilt and must be enrolled again";
    if (this.distrustsUs) return "its agent trusts another manager key";
    return this.breaker.isSetAside ? this.breaker.obstacle(this.#clock.monotonic()) : undefined;
  }
}

function isOlder({ metadata: one }: WorkerCluster, { metadata: other }: WorkerCluster): boolean {
  return one.uid === other.uid && isNewerVersion(other.resourceVersion ?? "", one.resourceVersion ?? "");
}

const lostAfterOf = ({ spec }: WorkerCluster): number => parseDuration(spec.lostAfter ?? "") ?? DEFAULT_LOST_AFTER_MS;

const hasSameKeys = ({ spec: one }: WorkerCluster, { spec: other }: WorkerCluster): boolean =>
  one.publicKey === other.publicKey && one.nextPublicKey === other.nextPublicKey;

/** The schema lets only well-formed keys in; a cluster whose key keeps no secret simply cannot speak. */
const keysOf = ({ publicKey, nextPublicKey = "" }: WorkerCluster["spec"]): readonly PublicKey[] =>
  [publicKey, nextPublicKey].flatMap((text) => {
    try {
      return [parsePublicKey(text)];
    } catch {
      return [];
    }
  });
