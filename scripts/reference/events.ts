import { code, type Page, table } from "./markdown.ts";
import {
  CLUSTER_CONDITIONS,
  CLUSTER_EVENTS,
  HUB_JOB_EVENTS,
  JOB_CONDITIONS,
  JOB_CONTROLLER_EVENTS,
  REFUSALS,
  SHADOW_POD_REASONS,
} from "./reasons.ts";

const eventTable = (events: typeof HUB_JOB_EVENTS): string =>
  table(
    ["reason", "type", "meaning"],
    Object.entries(events).map(([reason, { type, meaning }]) => [code(reason), type, meaning]),
  );

const wordTable = (head: string[], words: Readonly<Record<string, string>>): string =>
  table(
    head,
    Object.entries(words).map(([reason, meaning]) => [code(reason), meaning]),
  );

export const eventsPage = (): Page => ({
  file: "events.md",
  title: "Events, conditions and refusals",
  from: "`scripts/reference/reasons.ts`, which is compared with the sources",
  body: [
    "## Events on a hub Job",
    "From `jobferry-manager`. Warnings about the mirror and its pods are passed on under their own reasons, with the cluster in brackets; on shadow pods ([pods](../pods.md)) so are all events of their pods, those of a pod's start in one:",
    '`Failed: [east] Pod j-x7k2p: Error: configmap "settings" not found`.',
    "",
    eventTable(HUB_JOB_EVENTS),
    "",
    "### Why a cluster refuses a Job",
    wordTable(["reason", "meaning"], REFUSALS),
    "",
    "## Reasons on a shadow pod",
    wordTable(["reason", "meaning"], SHADOW_POD_REASONS),
    "",
    "## Events on a WorkerCluster",
    eventTable(CLUSTER_EVENTS),
    "",
    "## Conditions of a WorkerCluster",
    table(
      ["condition", "reason", "meaning"],
      Object.entries(CLUSTER_CONDITIONS).flatMap(([type, reasons]) =>
        Object.entries(reasons).map(([reason, meaning]) => [code(type), code(reason), meaning]),
      ),
    ),
    "",
    "## Events of the Job controller",
    "From `job-controller`, with the reasons of the built-in controller; `InvalidAnnotation` is ours. An agent writes only the warnings unless",
    "`--mirror-events=all` is set.",
    "",
    eventTable(JOB_CONTROLLER_EVENTS),
    "",
    "## Conditions of a Job",
    "As with the built-in controller. The five reasons of a failed Job above stand in FailureTarget and Failed, too.",
    "",
    wordTable(["reason", "condition"], JOB_CONDITIONS),
  ].join("\n"),
});
