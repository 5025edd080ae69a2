import { request } from "node:https";
import { hashOf, type LogReading, newTicket } from "@jobferry/shared/api/log-readings.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { hubUid } from "@jobferry/shared/protocol/names.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LogError } from "../pods/log-reader.ts";
import { EAST, epochOf } from "../testing/hub-job.ts";
import { type LogEndpoint, startLogEndpoint } from "./endpoint.ts";
import type { JobLogs } from "./job-logs.ts";
import { type LogDeskOptions, openLogDesk } from "./log-desk.ts";
import { Tickets } from "./tickets.ts";

const ticket = newTicket();
const target = { cluster: EAST, epoch: epochOf(1) };
let clock: VirtualClock;
let readings: LogReading[];
let deleted: string[];
let manager: LogDeskOptions["manager"];
let desk: ReturnType<typeof openLogDesk>;
let endpoint: LogEndpoint;

const api = {
  get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
    const found = readings.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (found === undefined) throw new ApiError(404, "NotFound", "not found");
    return found;
  },
  list: async () => ({ items: readings, metadata: { resourceVersion: "1" } }),
  delete: async (_: unknown, { name }: { name: string }) => void deleted.push(name),
} as unknown as KubeApi;

const aReading = (name: string, ageMs: number): LogReading => ({
  metadata: {
    ...{ namespace: "team", name, uid: `uid-${name}` },
    creationTimestamp: new Date(clock.now() - ageMs).toISOString(),
  },
  spec: { job: "pi", ticketHash: hashOf(ticket) },
});

async function* saying(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

beforeEach(async () => {
  clock = new VirtualClock();
  readings = [aReading("mine", 1_000)];
  deleted = [];
  const find: JobLogs["find"] = (namespace, job) => ({ ...target, uid: hubUid.parse(`${namespace}-${job}`) });
  manager = () => ({ logs: undefined, askForLog: async () => {}, jobLogs: { find } as JobLogs });
  desk = openLogDesk({ api, clock, logger: silentLogger, manager: () => manager(), isAllowed: async () => false });
  endpoint = await startLogEndpoint({
    ...{ host: "127.0.0.1", port: 0, logger: silentLogger },
    jobOf: (reading, given) => desk.ticketed({ reading, ticket: given }),
    open: async ({ uid }, asked) =>
      asked.wants === "pods" ? saying(`pods of ${uid}`) : saying(`${uid} ${asked.pod.name} ${asked.container}`),
  });
});
afterEach(async () => {
  desk.close();
  await endpoint.close();
});

const ask = (path: string, header?: string, method = "GET"): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const headers = header === undefined ? {} : { "x-jobferry-ticket": header };
    const to = { host: "127.0.0.1", port: endpoint.port, path, method, headers, rejectUnauthorized: false };
    const sent = request(to, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += String(chunk);
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });

it("the ticket of a LogReading opens the logs of its Job, in its namespace", async () => {
  expect(await ask("/readings/team/mine/pods", ticket)).toEqual({ status: 200, text: "pods of team-pi" });
  expect(await ask("/readings/team/mine/pods/p/u/c", ticket)).toEqual({ status: 200, text: "team-pi p c" });
});

it.each([
  ["without a ticket", "/readings/team/mine/pods", undefined, 401],
  ["with another one", "/readings/team/mine/pods", newTicket(), 403],
  ["with its hash instead", "/readings/team/mine/pods", hashOf(ticket), 403],
  ["of a LogReading that is not there", "/readings/team/other/pods", ticket, 403],
  ["in another namespace", "/readings/other/mine/pods", ticket, 403],
  ["when it is too old", "/readings/team/old/pods", ticket, 403],
  ["at another path", "/metrics", ticket, 404],
])("%s nothing is answered", async (_, path, header, status) => {
  readings.push(aReading("old", 300_000));
  expect((await ask(path, header)).status).toBe(status);
});

it("nothing is written here", async () => {
  expect((await ask("/readings/team/mine/pods", ticket, "POST")).status).toBe(404);
});

it("a manager that stands by says so, and a log that cannot be read why", async () => {
  const find = (): never => {
    throw new LogError({ code: 409, message: "it has no cluster yet" });
  };
  manager = () => ({ logs: undefined, askForLog: async () => {}, jobLogs: { find } as unknown as JobLogs });
  const refused = await ask("/readings/team/mine/pods", ticket);
  expect(refused.status).toBe(409);
  expect(JSON.parse(refused.text)).toMatchObject({ kind: "Status", code: 409, message: "it has no cluster yet" });
  manager = () => undefined;
  expect((await ask("/readings/team/mine/pods", ticket)).status).toBe(503);
});

it("those that open nothing any more are removed", async () => {
  readings.push(aReading("old", 300_000), aReading("young", 299_000));
  await new Tickets(api, clock).sweep();
  expect(deleted).toEqual(["old"]);
});
