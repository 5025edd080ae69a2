/** The columns of `kubectl get` for the built-in kinds, computed as the API server does. */
import { formatSelector } from "@jobferry/shared/job/selector.ts";
import type { LabelSelector } from "@jobferry/shared/job/types.ts";
import type { Column } from "../api/columns.ts";
import { isRecord, type Stored } from "../store/frozen.ts";
import { age, duration } from "./age.ts";
import { podColumns } from "./pod-columns.ts";

type Fields = Record<string, unknown>;

const record = (value: unknown): Fields => (isRecord(value) ? value : {});
const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const orNone = (value: unknown): string => (value === undefined || value === "" ? "<none>" : String(value));
const specOf = (object: Stored): Fields => record(object.spec);
const statusOf = (object: Stored): Fields => record(object.status);

function column(name: string, value: Column["value"], more: Partial<Column> = {}): Column {
  return { name, type: "string", priority: 0, value, ...more };
}

export const nameColumn = column("Name", (object) => object.metadata.name, { format: "name" });
export const ageColumn = column("Age", (object, now) => age(object.metadata.creationTimestamp, now));
const wide = { priority: 1 };

const containersOf = (template: unknown): Fields[] => list(record(record(template).spec).containers);
const templateColumns = (templateOf: (object: Stored) => unknown): Column[] => [
  column(
    "Containers",
    (object) =>
      containersOf(templateOf(object))
        .map(({ name }) => name)
        .join(","),
    wide,
  ),
  column(
    "Images",
    (object) =>
      containersOf(templateOf(object))
        .map(({ image }) => image)
        .join(","),
    wide,
  ),
];

function jobStatus(job: Stored): string {
  const has = (type: string): boolean =>
    list(statusOf(job).conditions).some((condition) => condition.type === type && condition.status === "True");
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (job.metadata.deletionTimestamp !== undefined) return "Terminating";
  if (has("Suspended")) return "Suspended";
  if (has("FailureTarget")) return "FailureTarget";
  return has("SuccessCriteriaMet") ? "SuccessCriteriaMet" : "Running";
}

function jobCompletions(job: Stored): string {
  const succeeded = Number(statusOf(job).succeeded ?? 0);
  const { completions, parallelism } = specOf(job);
  if (completions !== undefined) return `${succeeded}/${String(completions)}`;
  const workers = Number(parallelism ?? 0);
  return workers > 1 ? `${succeeded}/1 of ${workers}` : `${succeeded}/1`;
}

function jobDuration(job: Stored, now: number): string {
  const { startTime, completionTime } = statusOf(job);
  if (typeof startTime !== "string") return "";
  return duration((typeof completionTime === "string" ? Date.parse(completionTime) : now) - Date.parse(startTime));
}

const jobs: Column[] = [
  nameColumn,
  column("Status", jobStatus),
  column("Completions", jobCompletions),
  column("Duration", jobDuration),
  ageColumn,
  ...templateColumns((job) => specOf(job).template),
  column("Selector", (job) => orNone(formatSelector((specOf(job).selector ?? {}) as LabelSelector)), wide),
];

const cronJobs: Column[] = [
  nameColumn,
  column("Schedule", (object) => specOf(object).schedule),
  column("Timezone", (object) => orNone(specOf(object).timeZone)),
  column("Suspend", (object) => (specOf(object).suspend === true ? "True" : "False"), { type: "boolean" }),
  column("Active", (object) => list(statusOf(object).active).length, { type: "integer" }),
  column("Last Schedule", (object, now) => {
    const last = statusOf(object).lastScheduleTime;
    return typeof last === "string" ? age(last, now) : "<none>";
  }),
  ageColumn,
  ...templateColumns((object) => record(record(specOf(object).jobTemplate).spec).template),
  column("Selector", () => "<none>", wide),
];

function nodeStatus(node: Stored): string {
  const ready = list(statusOf(node).conditions).find(({ type }) => type === "Ready");
  const words = [ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady"];
  if (specOf(node).unschedulable === true) words.push("SchedulingDisabled");
  return words.join(",");
}

function nodeRoles(node: Stored): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.keys(node.metadata.labels ?? {}).filter((key) => key.startsWith(prefix));
  return orNone(
    roles
      .map((key) => key.slice(prefix.length))
      .sort()
      .join(","),
  );
}

const nodeInfo = (field: string) => (node: Stored) => {
  const value = record(statusOf(node).nodeInfo)[field];
  return value === undefined || value === "" ? "<unknown>" : value;
};
const nodeAddress = (kind: string) => (node: Stored) =>
  orNone(list(statusOf(node).addresses).find(({ type }) => type === kind)?.address);

const nodes: Column[] = [
  nameColumn,
  column("Status", nodeStatus),
  column("Roles", nodeRoles),
  ageColumn,
  column("Version", (node) => record(statusOf(node).nodeInfo).kubeletVersion ?? ""),
  column("Internal-IP", nodeAddress("InternalIP"), wide),
  column("External-IP", nodeAddress("ExternalIP"), wide),
  column("OS-Image", nodeInfo("osImage"), wide),
  column("Kernel-Version", nodeInfo("kernelVersion"), wide),
  column("Container-Runtime", nodeInfo("containerRuntimeVersion"), wide),
];

const eventSource = (event: Stored): string => {
  const { component, host } = record(event.source);
  return [component ?? event.reportingComponent, host].filter((part) => part !== undefined && part !== "").join(", ");
};
const seen = (event: Stored, field: string, now: number): string => {
  const time = event[field] ?? event.eventTime;
  return typeof time === "string" ? age(time, now) : "<unknown>";
};

const events: Column[] = [
  column("Last Seen", (event, now) => seen(event, "lastTimestamp", now)),
  column("Type", (event) => event.type ?? ""),
  column("Reason", (event) => event.reason ?? ""),
  column("Object", (event) => {
    const { kind, name } = record(event.involvedObject);
    return `${String(kind ?? "").toLowerCase()}/${String(name ?? "")}`;
  }),
  column("Subobject", (event) => record(event.involvedObject).fieldPath ?? "", wide),
  column("Source", eventSource, wide),
  column("Message", (event) => String(event.message ?? "").trim()),
  column("First Seen", (event, now) => seen(event, "firstTimestamp", now), wide),
  column("Count", (event) => event.count ?? 1, wide),
  column("Name", (event) => event.metadata.name, { ...wide, format: "name" }),
];

const size =
  (...fields: string[]) =>
  (object: Stored) =>
    fields.reduce((sum, field) => sum + Object.keys(record(object[field])).length, 0);

const COLUMNS: Record<string, readonly Column[]> = {
  Pod: podColumns(nameColumn, ageColumn),
  Job: jobs,
  CronJob: cronJobs,
  Node: nodes,
  Event: events,
  Namespace: [nameColumn, column("Status", (object) => statusOf(object).phase ?? ""), ageColumn],
  ConfigMap: [nameColumn, column("Data", size("data", "binaryData")), ageColumn],
  Secret: [nameColumn, column("Type", (object) => object.type), column("Data", size("data")), ageColumn],
  Lease: [nameColumn, column("Holder", (object) => specOf(object).holderIdentity ?? ""), ageColumn],
  MutatingAdmissionPolicy: [
    nameColumn,
    column("Mutations", (object) => ((specOf(object).mutations as unknown[] | undefined) ?? []).length),
    column("ParamKind", () => "<unset>"),
    ageColumn,
  ],
  MutatingAdmissionPolicyBinding: [
    nameColumn,
    column("PolicyName", (object) => specOf(object).policyName ?? ""),
    column("ParamRef", () => "<unset>"),
    ageColumn,
  ],
  CustomResourceDefinition: [
    nameColumn,
    column("Created At", (object) => object.metadata.creationTimestamp, { type: "date" }),
  ],
};

export const columnsFor = (kind: string): readonly Column[] => COLUMNS[kind] ?? [nameColumn, ageColumn];
