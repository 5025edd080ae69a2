/** What outsiders write, and the code that reads it first. Each target gives its input to the reader, and throws only if that went wrong. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sizeProblem } from "@jobferry/manager/hub/size.ts";
import { readWishes } from "@jobferry/manager/hub/wishes.ts";
import { jobNeeds } from "@jobferry/manager/placement/fit/job-needs.ts";
import { readLogRequest } from "@jobferry/manager/pods/log-request.ts";
import { judgeStatus } from "@jobferry/manager/reports/accept.ts";
import { managerConfig } from "@jobferry/manager/service.ts";
import { anAssignedJob, anAssignment, EAST, epochOf, phases } from "@jobferry/manager/testing/hub-job.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { openDelivery, openReport, sealDelivery, sealReport } from "@jobferry/shared/protocol/codec.ts";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { ProtocolError } from "@jobferry/shared/protocol/errors.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { newStreamSecret, PieceSeal } from "@jobferry/shared/protocol/log-frames.ts";
import {
  CLUSTER_SELECTOR,
  GANG,
  ON_CLUSTER_LOST,
  PRIORITY,
  QUEUE_LABEL,
  RETRY,
  SEQ,
} from "@jobferry/shared/protocol/marks.ts";
import { type Report, report } from "@jobferry/shared/protocol/report.ts";
import { Sealer } from "@jobferry/shared/protocol/sealer.ts";
import { ConfigError, loadConfig } from "@jobferry/shared/runtime/config.ts";
import { variableOf } from "@jobferry/shared/runtime/field-names.ts";
import { scrub } from "@jobferry/shared/runtime/logger.ts";
import { readExitCodeRanges } from "@jobferry/worker-agent/job-controller/core/exit-code-ranges.ts";
import { uncountedCapMs } from "@jobferry/worker-agent/job-controller/core/uncounted-cap.ts";
import { startConfig } from "@jobferry/worker-agent/start-command.ts";
import fc from "fast-check";
import { stringify } from "yaml";
import { changes, mutated, slipped, slips } from "./mutate.ts";

const corpusFile = new URL("../../shared/protocol/corpus/jobferry-2.json", import.meta.url);
const corpus = JSON.parse(readFileSync(corpusFile, "utf8")) as { deliveries: Delivery[]; reports: Report[] };

const [manager, agent] = [generateKeyPair(), generateKeyPair()];
const [managerSealer, agentSealer] = [new Sealer([manager]), new Sealer([agent])];

/** An input, and what reads it. */
export interface Target<T = unknown> {
  readonly inputs: fc.Arbitrary<T>;
  read(input: T): void;
}
const target = <T>(inputs: fc.Arbitrary<T>, read: (input: T) => void): Target => ({ inputs, read }) as Target;

/** Refused in the reader's own words is right; anything else is a crash. */
function allows(refusal: new (...args: never[]) => Error, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof refusal)) throw error;
  }
}

const [deliveryRoute, reportRoute] = (["delivery", "report"] as const).map((direction) => ({
  direction,
  cluster: EAST,
}));

const sealed = (payload: string, direction: "delivery" | "report"): string | undefined => {
  try {
    return direction === "report"
      ? agentSealer.seal(payload, reportRoute as { direction: "report"; cluster: typeof EAST }, manager.publicKey)
      : managerSealer.seal(payload, deliveryRoute as { direction: "delivery"; cluster: typeof EAST }, agent.publicKey);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
};

const hubJob: Job = anAssignedJob({
  spec: { parallelism: 3, completions: 9, completionMode: "Indexed" },
  metadata: {
    labels: { [QUEUE_LABEL]: "night", app: "report" },
    annotations: {
      [PRIORITY]: "10",
      [CLUSTER_SELECTOR]: "zone in (eu,us),gpu!=none,!old,size>3",
      [ON_CLUSTER_LOST]: "Wait",
      [GANG]: "true",
      [RETRY]: "2",
      [SEQ]: "2:17:0b7c1a2e-0000-4000-8000-000000000001",
      "jobferry.dev/exit-code-ranges": "rule 0: 1-9,128-255",
      "jobferry.dev/max-uncounted-seconds": "30",
    },
  },
});

const settings = {
  redisUrl: "rediss://redis:6379/0",
  keyFile: "/etc/jobferry/key.pem",
  metricsPort: 8080,
  logLevel: "info",
  pods: "shadow",
  namespaces: ["a", "b"],
  cluster: "east",
  managerKey: ["k"],
};
const SCHEMAS = [managerConfig, startConfig];
const configFile = join(mkdtempSync(join(tmpdir(), "jobferry-fuzz-")), "config.yaml");

const LOG_URL =
  "/containerLogs/team-a/nightly-report-x7k2p/main?follow=true&tailLines=10&sinceTime=2026-01-02T03%3A04%3A05Z&limitBytes=100";
const secret = newStreamSecret();
const piece = new PieceSeal(secret, "frames").seal("data", Buffer.from("a line\n"));

const changed = (valid: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.tuple(fc.constantFrom(...valid), changes).map(([one, made]) => mutated(one, made));
/** Sealed as their sender would; what is too large for a message never gets this far. */
const envelopes = (payloads: fc.Arbitrary<string>, direction: "delivery" | "report"): fc.Arbitrary<string> =>
  payloads.map((payload) => sealed(payload, direction)).filter((envelope) => envelope !== undefined);
const json = (value: unknown): string => JSON.stringify(value) ?? "null";
const openedReport = (envelope: string): Report => openReport(envelope, EAST, managerSealer, [agent.publicKey]);
const openedDelivery = (envelope: string): Delivery => openDelivery(envelope, EAST, agentSealer, [manager.publicKey]);

const texts = (list: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries((list ?? {}) as object).map(([key, value]) => [
      key,
      typeof value === "string" ? value : json(value),
    ]),
  );
/** The API server lets nothing through but text, 256 KiB of it. */
const jobs: fc.Arbitrary<Job> = changed([hubJob.metadata]).map((made) => {
  const { labels, annotations } = (made ?? {}) as { labels?: unknown; annotations?: unknown };
  return { ...hubJob, metadata: { ...hubJob.metadata, labels: texts(labels), annotations: texts(annotations) } };
});
const selectors = fc
  .tuple(fc.constantFrom("zone in (eu,us),gpu!=none,!old,size>3", "a=b", "!a", "a notin (b)"), slips, fc.nat(900))
  .map(([text, made, times]) => slipped(`${text},`.repeat(times + 1), made));

const statuses = corpus.reports.filter(({ kind }) => kind === "status");

export const TARGETS: Record<string, Target> = {
  "reports with changed fields": target(envelopes(changed(corpus.reports).map(json), "report"), (envelope) =>
    allows(ProtocolError, () => openedReport(envelope)),
  ),
  "deliveries with changed fields": target(envelopes(changed(corpus.deliveries).map(json), "delivery"), (envelope) =>
    allows(ProtocolError, () => openedDelivery(envelope)),
  ),
  "reports with slips in their text": target(
    envelopes(
      fc.tuple(fc.constantFrom(...corpus.reports), slips).map(([valid, made]) => slipped(json(valid), made)),
      "report",
    ),
    (envelope) => allows(ProtocolError, () => openedReport(envelope)),
  ),
  "envelopes with slips": target(
    fc
      .tuple(fc.constantFrom(...corpus.reports), slips)
      .map(([valid, made]) => slipped(sealReport(valid, EAST, agentSealer, manager.publicKey), made)),
    (envelope) => allows(ProtocolError, () => openedReport(envelope)),
  ),
  "envelopes that were never one": target(fc.string({ unit: "binary", maxLength: 5_000 }), (text) =>
    allows(ProtocolError, () => openedDelivery(text)),
  ),
  "deliveries that we would send": target(changed(corpus.deliveries), (message) =>
    allows(ProtocolError, () => sealDelivery(message as Delivery, EAST, managerSealer, agent.publicKey)),
  ),
  "pieces of a log with slips": target(
    slips.map((made) => Buffer.from(slipped(piece.toString("latin1"), made), "latin1")),
    (bytes) => allows(ProtocolError, () => new PieceSeal(secret, "frames").open(bytes)),
  ),
  "statuses that a report may hold": target(
    changed(statuses)
      .map((message) => report.safeParse(message).data)
      .filter((message) => message?.kind === "status"),
    (message) => {
      const judged = { ...message, cluster: EAST, epoch: epochOf(2) };
      judgeStatus(hubJob, judged, { phase: { phase: "assigned", assignment: anAssignment() }, storedSeq: 0, now: 0 });
    },
  ),
  "wishes, marks and extensions of a Job": target(jobs, (job) => {
    const read = readWishes(job);
    if ("wishes" in read) read.wishes.matchesCluster({ zone: "eu", size: "4" });
    phases.of(job);
    phases.nextEpoch(job);
    phases.storedSeq(job);
    jobNeeds(job);
    sizeProblem(job);
    readExitCodeRanges(job);
    uncountedCapMs(job);
  }),
  "selectors with slips": target(selectors, (selector) => {
    const annotations = { [CLUSTER_SELECTOR]: selector };
    const read = readWishes({ ...hubJob, metadata: { ...hubJob.metadata, annotations } });
    if ("wishes" in read) for (let i = 0; i < 20; i++) read.wishes.matchesCluster({ zone: "eu", size: String(i) });
  }),
  "paths and queries of the kubelet's port": target(
    fc.tuple(fc.constantFrom(LOG_URL, "/", "//["), slips).map(([url, made]) => slipped(url, made)),
    (url) => {
      readLogRequest(url);
    },
  ),
  "configuration files": target(
    fc.tuple(
      fc.oneof(
        changed([settings]).map((values) => stringify(values)),
        slips.map((made) => slipped(stringify(settings), made)),
      ),
      fc.constantFrom(...SCHEMAS),
    ),
    ([text, schema]) => {
      writeFileSync(configFile, text);
      allows(ConfigError, () => loadConfig(schema, { file: configFile }));
    },
  ),
  "flags and variables": target(changed([settings]).map(texts), (named) => {
    const env = Object.fromEntries(Object.entries(named).map(([field, value]) => [variableOf(field), value]));
    for (const schema of SCHEMAS) {
      allows(ConfigError, () => loadConfig(schema, { flags: named }));
      allows(ConfigError, () => loadConfig(schema, { env }));
    }
  }),
  "lines of the log": target(
    fc
      .array(fc.constantFrom("eyJ", "-", ".", "Bearer ", "://", ":", "@", "a", "/", " ", "é"), { maxLength: 400 })
      .map((parts) => parts.join("").repeat(20)),
    (line) => {
      scrub(line);
    },
  ),
};
