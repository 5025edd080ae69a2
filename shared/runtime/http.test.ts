import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Counter, Registry } from "prom-client";
import { afterEach, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { type StatusServer, type StatusServerOptions, startStatusServer } from "./http.ts";

const servers: StatusServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function start(options: Partial<StatusServerOptions> = {}): Promise<StatusServer> {
  const server = await startStatusServer({ port: 0, ...options });
  servers.push(server);
  return server;
}
const get = async (server: StatusServer, path: string, method = "GET"): Promise<[number, string]> => {
  const response = await fetch(server.url + path, { method });
  return [response.status, await response.text()];
};

test("is healthy while it runs, and ready when nothing is missing", async () => {
  const missing = ["pods are not listed yet", "no Redis"];
  const server = await start({ notReady: () => missing });
  expect(await get(server, "/healthz")).toEqual([200, "ok\n"]);
  expect(await get(server, "/readyz?verbose")).toEqual([503, "not ready: pods are not listed yet; no Redis\n"]);
  missing.length = 0;
  expect(await get(server, "/readyz")).toEqual([200, "ok\n"]);
});

test("listens on loopback unless told", async () => {
  expect((await start()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test("shows the metrics of its program", async () => {
  const registry = new Registry();
  new Counter({ name: "answers_total", help: "answers", registers: [registry] }).inc(3);
  const [status, text] = await get(await start({ registry }), "/metrics");
  expect(status).toBe(200);
  expect(text).toContain("answers_total 3");
});

test("answers nothing else", async () => {
  const server = await start();
  expect((await get(server, "/"))[0]).toBe(404);
  expect((await get(server, "/metrics"))[0]).toBe(404);
  expect((await get(server, "/healthz", "POST"))[0]).toBe(405);
  expect(await get(server, "/healthz", "HEAD")).toEqual([200, ""]);
});

test("a readiness check that throws is an error, not a crash", async () => {
  const server = await start({
    notReady: () => {
      throw new Error("cannot tell");
    },
  });
  expect(await get(server, "/readyz")).toEqual([500, "cannot tell\n"]);
});

test("a taken port is refused with the fix", async () => {
  const { url } = await start();
  const failing = startStatusServer({ port: Number(new URL(url).port) });
  await expect(failing).rejects.toThrow(ConfigError);
  await expect(failing).rejects.toThrow(/choose another address/);
});

test("close does not wait for idle or half-sent requests", async () => {
  const server = await start();
  await get(server, "/healthz");
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.write("GET /healthz HTTP/1.1\r\n", () => resolve()));
  await server.close();
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  socket.destroy();
});

/** Connections that say nothing, as somebody who wants a probe to fail would open them. */
async function idlers(server: StatusServer, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(server.url);
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
}

test("however many connections idle, a new one is answered", async () => {
  const server = await start();
  const sockets = await idlers(server, 150);
  for (let i = 0; i < 5; i++) expect(await get(server, "/healthz")).toEqual([200, "ok\n"]);
  for (const socket of sockets) socket.destroy();
});

test("a connection on which nothing is asked is closed", async () => {
  const [socket] = await idlers(await start(), 1);
  socket?.resume();
  await once(socket as Socket, "close");
});
