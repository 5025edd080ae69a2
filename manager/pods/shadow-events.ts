import type { Pod } from "@jobferry/shared/job/types.ts";
import type { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import type { PodEvent, ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import type { Clock } from "@jobferry/shared/runtime/clock.ts";
import { LruMap } from "@jobferry/shared/runtime/lru-map.ts";

/** How often each event of one pod was told on the hub; `started`: that of its start. */
export interface Told {
  readonly counts: ReadonlyMap<string, number>;
  readonly started: boolean;
}

/** An event to write about a shadow. */
export interface EventNews {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly times: number;
}

const NOTHING: Told = { counts: new Map(), started: false };
const REMEMBERED = 8_192;

/**
 * What of a pod's events is news. Warnings are told one by one, and that it is killed. How it came to run is told once, when it
 * does, in one event: pods come in thousands, and each event is a write on the hub.
 */
export function eventNews({ events = [], status }: ReportedPod, told: Told): { news: EventNews[]; told: Told } {
  const counts = new Map(told.counts);
  const news: EventNews[] = [];
  for (const { type, reason, message, count } of events.filter(isOwn)) {
    const key = `${type}/${reason}/${message}`;
    const times = count - (counts.get(key) ?? 0);
    counts.set(key, Math.max(count, counts.get(key) ?? 0));
    if (times > 0) news.push({ type, reason, message, times });
  }
  const start = events.filter((event) => !isOwn(event));
  const hasStarted = status.phase !== undefined && status.phase !== "Pending";
  const isDue = hasStarted && !told.started && start.length > 0;
  const last = start.at(-1);
  if (isDue && last !== undefined)
    news.push({
      type: "Normal",
      reason: last.reason,
      message: start.map(({ reason, message }) => `${reason}: ${message}`).join("; "),
      times: 1,
    });
  return { news, told: { counts, started: told.started || isDue } };
}

/** Told by itself. */
const isOwn = ({ type, reason }: PodEvent): boolean => type === "Warning" || reason === "Killing";

/** Tells on shadows what happened to their pods. */
export class ShadowEvents {
  readonly #recorder: Pick<EventRecorder, "record">;
  /** What was before is another manager's to tell, and was told. */
  readonly #since: number;
  readonly #told = new LruMap<string, Told>(REMEMBERED);

  constructor(recorder: Pick<EventRecorder, "record">, clock: Clock) {
    this.#recorder = recorder;
    // Events have whole seconds.
    this.#since = Math.floor(clock.now() / 1000) * 1000;
  }

  tell(shadow: Pod, cluster: string, pod: ReportedPod): void {
    const events = pod.events?.filter(({ at }) => Date.parse(at) >= this.#since) ?? [];
    if (events.length === 0) return;
    const { news, told } = eventNews({ ...pod, events }, this.#told.get(pod.uid) ?? NOTHING);
    this.#told.set(pod.uid, told);
    for (const { type, reason, message, times } of news)
      this.#recorder.record(pods, shadow, type, reason, `[${cluster}] ${message}`, times);
  }
}
