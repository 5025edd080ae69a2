import type { WorkerCluster } from "@jobferry/shared/api/fleet-resources.ts";
import type { Amounts } from "@jobferry/shared/job/requests.ts";
import { isNewerVersion } from "@jobferry/shared/kube/resource-version.ts";
import { type PublicKey, parsePublicKey } from "@jobferry/shared/protocol/keys.ts";
import type { ClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import type { ClusterView } from "../placement/eligibility.ts";
import { parseDuration } from "./duration.ts";
import { Room } from "./room.ts";
import { Silence } from "./silence.ts";

export type Health = Extract<Report, { kind: "hello" | "heartbeat" }>;

const DEFAULT_LOST_AFTER_MS = 15 * 60_000;

/** More than any API server writes from one heartbeat to the next. */
const SEQ_SLACK = 1_000_000;

interface Entry {
  object: WorkerCluster;
  keys: readonly PublicKey[];
  readonly room: Room;
  health: Health | undefined;
  /** Why its last message was refused, until one is accepted. */
  refusal: string | undefined;
  /** UIDs of unfinished Jobs assigned here. */
  readonly jobs: Set<string>;
  /** Those of them that its agent stops when it loses contact. */
  readonly stopping: Set<string>;
}

/** Everything the manager knows of its worker clusters: what their objects say, what their agents say, and how long they are silent. */
export class Clusters {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #silence: Silence;
  /** The public half of what we seal with. */
  readonly managerKey: string;

  constructor(clock: Clock, managerKey: string) {
    this.#clock = clock;
    this.managerKey = managerKey;
    this.#silence = new Silence(clock.monotonic());
  }

  /** From the watch, or as it came back from a write of ours, whichever is newer. */
  upsert(object: WorkerCluster): void {
    const name = object.metadata.name ?? "";
    if (isOlder(object, this.#entries.get(name)?.object)) return;
    const lostAfterMs = lostAfterOf(object);
    const silentMs = (object.status?.silentSeconds ?? 0) * 1000;
    this.#silence.watch(name, lostAfterMs, silentMs, this.#clock.monotonic());
    const entry = this.#entries.get(name);
    const keys = entry !== undefined && hasSameKeys(entry.object, object) ? entry.keys : keysOf(object.spec);
    if (entry !== undefined) Object.assign(entry, { object, keys });
    else
      this.#entries.set(name, {
        object,
        keys,
        room: new Room(),
        health: undefined,
        refusal: undefined,
        jobs: new Set(),
        stopping: new Set(),
      });
  }

  remove(name: string): void {
    this.#entries.delete(name);
    this.#silence.forget(name);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  names(): string[] {
    return [...this.#entries.keys()];
  }

  object(name: string): WorkerCluster | undefined {
    return this.#entries.get(name)?.object;
  }

  health(name: string): Health | undefined {
    return this.#entries.get(name)?.health;
  }

  keys(name: ClusterName): readonly PublicKey[] {
    return this.#entries.get(name)?.keys ?? [];
  }

  /**
   * Any message is a sign of life, unless it comes from a cluster that took the name of the one enrolled, or from an
   * agent that would not take our answer: there is contact only when both hear each other.
   */
  heard(name: string, health?: Health): void {
    const entry = this.#entries.get(name);
    if (entry === undefined) return;
    entry.refusal = undefined;
    if (health !== undefined) {
      entry.health = health;
      entry.room.report(health);
    }
    if (!this.isRebuilt(name) && !this.distrustsUs(name)) this.#silence.heard(name, this.#clock.monotonic());
  }

  /** A message under this name could not be opened. Anybody may have written it: it explains a silence and proves nothing. */
  refused(name: string, why: string): void {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.refusal = why;
  }

  refusal(name: string): string | undefined {
    return this.#entries.get(name)?.refusal;
  }

  /** Call every few seconds. */
  countSilence(reachable: boolean): void {
    this.#silence.count(this.#clock.monotonic(), reachable);
  }

  get frozen(): boolean {
    return this.#silence.isFrozen(this.#clock.monotonic());
  }

  isConnected(name: string): boolean {
    return !this.distrustsUs(name) && this.#silence.isConnected(name, this.#clock.monotonic());
  }

  isLost(name: string): boolean {
    return this.#silence.isLost(name);
  }

  silentMs(name: string): number {
    return this.#silence.silentMs(name);
  }

  unheardMs(name: string): number {
    return this.#silence.unheardMs(name, this.#clock.monotonic());
  }

  /** Seconds of silence by what the hub stores. */
  storedSilence(name: string): number {
    return this.#entries.get(name)?.object.status?.silentSeconds ?? 0;
  }

  lostAfterMs(name: string): number {
    return lostAfterOf(this.#entries.get(name)?.object);
  }

  isDraining(name: string): boolean {
    return this.#entries.get(name)?.object.spec.drain === true;
  }

  /** The agent speaks for another cluster than the one that was enrolled (rebuilt under the same name). */
  isRebuilt(name: string): boolean {
    const entry = this.#entries.get(name);
    const enrolled = entry?.object.status?.clusterID;
    return enrolled !== undefined && entry?.health !== undefined && entry.health.clusterID !== enrolled;
  }

  /** Its agent was given another manager's key, and refuses whatever we send. */
  distrustsUs(name: string): boolean {
    const trusted = this.#entries.get(name)?.health?.managerKeys;
    return trusted !== undefined && !trusted.includes(this.managerKey);
  }

  /** Which cluster it is that speaks under this name; undefined before it has said so. */
  identity(name: string): string | undefined {
    return this.#entries.get(name)?.health?.clusterID;
  }

  /** No report of this cluster has a higher number, if its agent is sane. */
  highestSeq(name: string): number {
    return (this.#entries.get(name)?.health?.resourceVersion ?? Number.POSITIVE_INFINITY) + SEQ_SLACK;
  }

  reserve(name: string, uid: string, perPod: Amounts, pods: number): void {
    const entry = this.#entries.get(name);
    entry?.jobs.add(uid);
    entry?.room.reserve(uid, perPod, pods);
  }

  /** The Job is assigned here, known from the hub itself. */
  holds(name: string, uid: string, stopping: boolean): void {
    const entry = this.#entries.get(name);
    entry?.jobs.add(uid);
    if (stopping) entry?.stopping.add(uid);
  }

  /** Some Job here is stopped when its agent does not hear from us often enough. */
  isWatchful(name: string): boolean {
    return (this.#entries.get(name)?.stopping.size ?? 0) > 0;
  }

  /** The Job is finished, gone or elsewhere. */
  letGo(name: string, uid: string): void {
    const entry = this.#entries.get(name);
    entry?.jobs.delete(uid);
    entry?.stopping.delete(uid);
    entry?.room.cancel(uid);
  }

  jobsOn(name: string): ReadonlySet<string> {
    return this.#entries.get(name)?.jobs ?? new Set();
  }

  #notReady(name: string): string | undefined {
    if (this.isRebuilt(name)) return "the cluster was rebuilt and must be enrolled again";
    return this.distrustsUs(name) ? "its agent trusts another manager key" : undefined;
  }

  *views(): Generator<ClusterView> {
    for (const [name, { object, room, jobs }] of this.#entries) {
      const { spec } = object;
      yield {
        name,
        labels: object.metadata.labels ?? {},
        connected: this.isConnected(name),
        notReady: this.#notReady(name),
        cordoned: spec.cordoned === true || spec.drain === true,
        maxJobs: spec.maxJobs,
        namespaces: spec.namespaces === undefined ? undefined : new Set(spec.namespaces),
        running: jobs.size,
        free: room.free,
        largestFreeNode: room.largestFreeNode,
        largestNode: room.largestNode,
      };
    }
  }
}

function isOlder({ metadata: one }: WorkerCluster, other: WorkerCluster | undefined): boolean {
  if (other === undefined || one.uid !== other.metadata.uid) return false;
  return isNewerVersion(other.metadata.resourceVersion ?? "", one.resourceVersion ?? "");
}

const lostAfterOf = (object: WorkerCluster | undefined): number =>
  parseDuration(object?.spec.lostAfter ?? "") ?? DEFAULT_LOST_AFTER_MS;

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
