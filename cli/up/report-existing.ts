/** What `jobferry up` says about clusters that exist. */
import { type Screen, type View, viewFor } from "./demo/view.ts";
import type { Applied } from "./install.ts";

export interface ExistingReporter {
  reached(cluster: string, server: string, version: string): void;
  applied(cluster: string, applied: Applied): void;
  /** The hub is its own worker. */
  ownWorker(worker: string, prefix: string): void;
  /** What carries messages between manager and agents. */
  messages(carrier: string): void;
  ready(workers: readonly string[], startedInMs: number): void;
  nothingDone(): void;
  stopping(): void;
  stopped(workers: readonly string[]): void;
  view(): View;
}

export function existingReporterFor(
  output: "text" | "json",
  print: (line: string) => void,
  screen: Screen | undefined,
): ExistingReporter {
  const view = (): View => viewFor(output, print, screen);
  return output === "json" ? { ...jsonReporter(print), view } : { ...textReporter(print), view };
}

type Words = Omit<ExistingReporter, "view">;

function jsonReporter(print: (line: string) => void): Words {
  const say = (event: string, fields: object = {}): void => print(JSON.stringify({ event, ...fields }));
  return {
    reached: (cluster, server, version) => say("reached", { cluster, server, version }),
    applied: (cluster, applied) => say("applied", { cluster, ...applied }),
    ownWorker: (worker, namespacePrefix) => say("ownWorker", { worker, namespacePrefix }),
    messages: (carrier) => say("messages", { carrier }),
    ready: (workers, startedInMs) => say("ready", { workers, startedInMs }),
    nothingDone: () => say("nothingDone"),
    stopping: () => say("stopping"),
    stopped: (workers) => say("stopped", { stays: staying(workers) }),
  };
}

const COLUMN = 10;

function textReporter(print: (line: string) => void): Words {
  return {
    reached: (cluster, server, version) => print(`  ${cluster.padEnd(COLUMN)} ${server}  ${version}`),
    applied: (cluster, { object, outcome, why }) =>
      print(`  ${cluster.padEnd(COLUMN)} ${object} ${outcome}${why === undefined ? "" : `: ${why}`}`),
    ownWorker: (worker, prefix) =>
      print(
        `  ${worker.padEnd(COLUMN)} is the hub itself: Jobs of namespace N run in ${prefix}N, which you create for each N`,
      ),
    messages: (carrier) => print(`  ${"messages".padEnd(COLUMN)} through ${carrier}`),
    ready(workers, startedInMs) {
      print(`Ready after ${(startedInMs / 1000).toFixed(1)} s, with ${workers.join(", ")}.`);
      print("");
      print(
        "Jobs on the hub with spec.managedBy: jobferry.dev/manager run on the workers, in a namespace of the same name.",
      );
      print("Press Ctrl-C to stop.");
      print("");
    },
    nothingDone: () => print("Nothing was changed (--dry-run)."),
    stopping: () => print("Stopping manager and agents ..."),
    stopped(workers) {
      print("Stopped. This stays, so that the same command goes on where this one ended:");
      for (const line of staying(workers)) print(`  ${line}`);
    },
  };
}

const staying = (workers: readonly string[]): string[] => [
  "on the hub: the resource definitions, the namespace jobferry-system, the admission policies",
  `on the hub: WorkerCluster ${workers.join(", ")}; remove one with: jobferry cluster forget NAME`,
  "on the workers: Jobs that are running, and their pods; finished ones are removed when this is started again",
];
