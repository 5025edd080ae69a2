/** Whoever reaches the port of the virtual node's kubelet, with whatever: an answer, and a log only for the API server. */
import { connect as connectHttp2 } from "node:http2";
import { type RequestOptions, request } from "node:https";
import { connect } from "node:tls";
import { type KubeletServer, startKubeletServer } from "@jobferry/manager/pods/kubelet-server.ts";
import { LogError } from "@jobferry/manager/pods/log-reader.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Certificate, certificateAuthority, clientCertificate } from "../harness/certificates.ts";

let server: KubeletServer;
let apiServer: Certificate;
let user: Certificate;
let stranger: Certificate;
let opened: unknown[];

beforeAll(async () => {
  const authority = await certificateAuthority("cluster");
  apiServer = await clientCertificate(authority, "kube-apiserver-kubelet-client", "system:masters");
  user = await clientCertificate(authority, "jane", "developers");
  stranger = await clientCertificate(await certificateAuthority("others"), "kube-apiserver", "system:masters");
  server = await startKubeletServer({
    ...{ host: "127.0.0.1", port: 0, clientCa: authority.cert, logger: silentLogger, maxStreams: 2 },
    isAllowed: async ({ groups }) => groups.includes("system:masters"),
    open: async (container, options) => {
      opened.push({ ...container, options });
      if (container.pod === "gone") throw new LogError({ code: 404, message: "it is gone" });
      return (async function* () {
        yield Buffer.from("a line\n");
      })();
    },
  });
});
afterAll(() => server.close());
beforeEach(() => {
  opened = [];
});

const ask = (path: string, more: RequestOptions = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port: server.port, path, rejectUnauthorized: false, agent: false as const };
    const sent = request({ ...to, ...apiServer, ...more }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += String(chunk);
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });

const LOG = "/containerLogs/team/pi-1/main";

it("the API server gets the log, with the options that are some", async () => {
  expect(await ask(`${LOG}?follow=true&tailLines=5&limitBytes=-1&sinceSeconds=x&timestamps=1&other=1`)).toEqual({
    ...{ status: 200, text: "a line\n" },
  });
  expect(opened).toEqual([
    { namespace: "team", pod: "pi-1", container: "main", options: { follow: true, tailLines: 5, timestamps: true } },
  ]);
});

describe("nobody else gets one", () => {
  it.each([
    ["without a certificate", () => ({ key: undefined, cert: undefined }), 401],
    ["with one of another authority", () => stranger, 401],
    ["with that of a user", () => user, 403],
  ])("%s", async (_, certificate, status) => {
    expect((await ask(LOG, certificate() as RequestOptions)).status).toBe(status);
    expect(opened).toEqual([]);
  });
});

describe("what is not a path of a log opens none", () => {
  it.each([
    ["/", 404],
    ["//elsewhere/containerLogs/team/pi-1/main", 400],
    ["/containerLogs/team/pi-1", 404],
    ["/containerLogs/team/pi-1/", 404],
    ["/containerLogs/team/pi-1/..%2F..%2Fsecrets", 400],
    ["/containerLogs/team/..%2F..%2Fkube-system/main", 400],
    ["/containerLogs/team/pi-1/%00", 400],
    ["/containerLogs/team/pi-1/%zz", 400],
    ["/containerLogs/team/pi-1/main%0D%0AX-Evil:%201", 400],
    ["/containerLogs/TEAM/pi-1/main", 400],
    [`/containerLogs/team/${"p".repeat(254)}/main`, 400],
    [`/containerLogs/team/pi-1/${"c".repeat(10_000)}`, 400],
    [`${LOG}?${"q".repeat(20_000)}=1`, 431],
    ["/exec/team/pi-1/main?command=sh", 501],
    ["/attach/team/pi-1/main", 501],
    ["/portForward/team/pi-1", 501],
    ["/run/team/pi-1/main", 501],
    ["/pods", 404],
    ["/metrics", 404],
    ["/containerLogs/team/gone/../../../pods", 404],
  ])("%.80s is answered with %i", async (path, status) => {
    expect((await ask(path)).status).toBe(status);
    expect(opened).toEqual([]);
  });

  it.each(["POST", "PUT", "DELETE"])("nor does %s", async (method) => {
    expect((await ask(LOG, { method })).status).toBe(404);
    expect(opened).toEqual([]);
  });
});

it("what has no log says why, with a code whose text an API server hands on", async () => {
  expect(await ask("/containerLogs/team/gone/main")).toEqual({ status: 400, text: "it is gone" });
});

it("who speaks only HTTP/2, or no HTTP at all, is not kept waiting", async () => {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false, ...apiServer });
  const failed = await new Promise<boolean>((resolve) => {
    session.on("error", () => resolve(true));
    session.on("close", () => resolve(true));
    session.request({ ":path": LOG }).on("error", () => {});
  });
  expect(failed).toBe(true);
  const socket = connect({ host: "127.0.0.1", port: server.port, rejectUnauthorized: false, ...apiServer });
  const said = await new Promise<string>((resolve) => {
    socket.on("error", () => resolve("an error"));
    socket.once("data", (chunk) => resolve(String(chunk)));
    socket.write("not a request\r\n\r\n");
  });
  socket.destroy();
  expect(said).toMatch(/400 Bad Request|an error/);
  expect((await ask(LOG)).status).toBe(200);
});
