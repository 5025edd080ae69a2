/**
 * Exact answers: every exchange of a scenario is played to both kinds of cluster, and each answer must equal the one
 * that a real API server gave when the scenario was recorded (answers/*.json). Record again, after adding exchanges, with
 *   JOBFERRY_RECORD=1 npx vitest run --project full test/contract -t "real API server >"
 *   npx biome format --write test/contract/answers
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeStatus } from "@jobferry/shared/kube/api.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RawResponse } from "../harness/test-cluster.ts";
import type { Subject } from "./subject.ts";

interface Exchange {
  name: string;
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `{ns}` stands for the namespace of the scenario. */
  path: string;
  /** Text and bytes go out as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

export interface Scenario {
  name: string;
  /**
   * The rules of a Job are explained in our own words: of a refusal as Invalid, reasons and field paths must be equal, not
   * the sentences.
   */
  ownWording?: boolean;
  exchanges: Exchange[];
}

interface Answer {
  status: number;
  type?: string;
  warning?: string;
  body: unknown;
}

const recording = process.env.JOBFERRY_RECORD === "1";

export function playScenario(subject: Subject, scenario: Scenario): void {
  describe(scenario.name, () => {
    const file = join(import.meta.dirname, "answers", `${scenario.name.replaceAll(" ", "-")}.json`);
    const namespace = `answers-${scenario.name.replaceAll(" ", "-")}`;
    const recorded: Record<string, Answer> = recording ? {} : JSON.parse(readFileSync(file, "utf8"));

    beforeAll(() => subject.createNamespace(namespace));
    afterAll(() => {
      if (recording && subject.kind === "real") writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
    });

    for (const exchange of scenario.exchanges)
      it(exchange.name, async () => {
        const answer = normalised(await play(subject, exchange, namespace), scenario.ownWording ?? false);
        if (recording && subject.kind === "real") recorded[exchange.name] = answer;
        expect(answer).toEqual(recorded[exchange.name]);
      });
  });
}

async function play(subject: Subject, exchange: Exchange, namespace: string): Promise<RawResponse> {
  const { method = "GET", body, headers = {} } = exchange;
  const raw = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return subject.cluster.request(exchange.path.replaceAll("{ns}", namespace), {
    method,
    headers: { ...(raw === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(raw === undefined ? {} : { body: raw.length > 0 ? raw : "" }),
  });
}

/** What differs between two runs on the same server says nothing: identities, times, versions, who wrote which field. */
function normalised(response: RawResponse, ownWording: boolean): Answer {
  const { "content-type": type, warning } = response.headers;
  const json = ownWording ? withoutSentences(response.json) : response.json;
  return {
    status: response.status,
    ...(type === undefined ? {} : { type }),
    ...(warning === undefined ? {} : { warning }),
    body: json === undefined ? response.text : scrub(json),
  };
}

function withoutSentences(json: unknown): unknown {
  const status = json as Partial<KubeStatus> | undefined;
  if (status?.kind !== "Status" || status.reason !== "Invalid") return json;
  const { message: _, ...rest } = status;
  const causes = status.details?.causes?.map(({ reason, field }) => ({ reason, field }));
  return { ...rest, details: { ...status.details, causes } };
}

/** `description`: of table columns, prose that nobody relies on. */
const dropped = new Set(["managedFields", "storageVersionHash", "description"]);

function scrub(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => scrub(item));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !dropped.has(name))
        .map(([name, item]) => [name, scrub(item, name)]),
    );
  if (typeof value !== "string") return value;
  if (key === "resourceVersion") return value === "" ? "" : "<version>";
  return value
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, "<micro time>")
    .replace(/(current: |in record \()\d+/g, "$1<version>");
}
