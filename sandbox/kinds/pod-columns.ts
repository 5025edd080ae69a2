import type { Column } from "../api/columns.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { age } from "./age.ts";

type Fields = Record<string, unknown>;

const record = (value: unknown): Fields => (isRecord(value) ? value : {});
const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);

interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string | undefined;
}

const isSidecar = (container: Fields | undefined): boolean => container?.restartPolicy === "Always";

/** What the Ready, Status and Restarts columns say of a pod, read off its container statuses. */
function summarize(pod: Stored): Summary {
  const status = record(pod.status);
  const spec = record(pod.spec);
  const summary: Summary = {
    ready: 0,
    total: list(spec.containers).length,
    reason: String(status.reason ?? status.phase ?? ""),
    restarts: 0,
    lastRestart: undefined,
  };
  if (isGated(status)) summary.reason = "SchedulingGated";
  const initializing = readInitContainers(list(spec.initContainers), list(status.initContainerStatuses), summary);
  if (!initializing || hasCondition(status, "Initialized")) readContainers(status, summary);
  if (pod.metadata.deletionTimestamp !== undefined && status.phase !== "Succeeded" && status.phase !== "Failed")
    summary.reason = status.reason === "NodeLost" ? "Unknown" : "Terminating";
  return summary;
}

const hasCondition = (status: Fields, wanted: string): boolean =>
  list(status.conditions).some(({ type, status: value }) => type === wanted && value === "True");

const isGated = (status: Fields): boolean =>
  list(status.conditions).some(({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated");

/** True while an init container holds the pod up; `summary.reason` then says which. */
function readInitContainers(containers: Fields[], statuses: Fields[], summary: Summary): boolean {
  for (const [index, status] of statuses.entries()) {
    const container = containers.find(({ name }) => name === status.name);
    const { terminated, waiting } = record(status.state);
    if (isSidecar(container)) summary.total++;
    noteRestarts(status, summary);
    if (record(terminated).exitCode === 0) continue;
    if (isSidecar(container) && status.started === true) {
      if (status.ready === true) summary.ready++;
      continue;
    }
    summary.reason = `Init:${initReason(record(terminated), record(waiting), terminated !== undefined, index, containers.length)}`;
    return true;
  }
  return false;
}

function initReason(terminated: Fields, waiting: Fields, ended: boolean, index: number, total: number): string {
  if (ended) return endReason(terminated);
  const reason = waiting.reason;
  return typeof reason === "string" && reason !== "" && reason !== "PodInitializing" ? reason : `${index}/${total}`;
}

function endReason(terminated: Fields): string {
  if (typeof terminated.reason === "string" && terminated.reason !== "") return terminated.reason;
  const signal = Number(terminated.signal ?? 0);
  return signal === 0 ? `ExitCode:${String(terminated.exitCode)}` : `Signal:${signal}`;
}

function readContainers(status: Fields, summary: Summary): void {
  let anyRunning = false;
  const statuses = list(status.containerStatuses);
  // The first container with something to say wins, so from the last to the first.
  for (const container of statuses.toReversed()) {
    noteRestarts(container, summary);
    const { waiting, terminated, running } = record(container.state);
    const waitingReason = record(waiting).reason;
    if (typeof waitingReason === "string" && waitingReason !== "") summary.reason = waitingReason;
    else if (terminated !== undefined) summary.reason = endReason(record(terminated));
    else if (container.ready === true && running !== undefined) {
      anyRunning = true;
      summary.ready++;
    }
  }
  if (summary.reason === "Completed" && anyRunning)
    summary.reason = hasCondition(status, "Ready") ? "Running" : "NotReady";
}

function noteRestarts(container: Fields, summary: Summary): void {
  summary.restarts += Number(container.restartCount ?? 0);
  const finishedAt = record(record(container.lastState).terminated).finishedAt;
  if (typeof finishedAt === "string" && finishedAt > (summary.lastRestart ?? "")) summary.lastRestart = finishedAt;
}

function restarts(pod: Stored, now: number): string {
  const summary = summarize(pod);
  if (summary.restarts === 0 || summary.lastRestart === undefined) return String(summary.restarts);
  return `${summary.restarts} (${age(summary.lastRestart, now)} ago)`;
}

export function podColumns(name: Column, created: Column): Column[] {
  const text = (title: string, value: Column["value"], priority = 0): Column => ({
    name: title,
    type: "string",
    priority,
    value,
  });
  const orNone = (value: unknown): string => (value === undefined || value === "" ? "<none>" : String(value));
  return [
    name,
    text("Ready", (pod) => {
      const { ready, total } = summarize(pod);
      return `${ready}/${total}`;
    }),
    text("Status", (pod) => summarize(pod).reason),
    text("Restarts", restarts),
    created,
    text("IP", (pod) => orNone(record(pod.status).podIP), 1),
    text("Node", (pod) => orNone(record(pod.spec).nodeName), 1),
    text("Nominated Node", (pod) => orNone(record(pod.status).nominatedNodeName), 1),
    text("Readiness Gates", () => "<none>", 1),
  ];
}
