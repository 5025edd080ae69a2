/** A Redis of our own for as long as we run. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { constants } from "node:fs";
import { access, mkdtemp } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Writable } from "node:stream";
import { ProcessGuard } from "@jobferry/sandbox/nodes/guard.ts";
import { RedisBus } from "@jobferry/shared/queue/redis-bus.ts";
import { realClock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";

const PROGRAMS = ["redis-server", "valkey-server"];
const READY_MS = 10_000;
const LOOK_MS = 20;
/** Another process may take the port between our look and the server's. */
const ATTEMPTS = 3;

export async function findRedisServer(path: string): Promise<string | undefined> {
  const folders = path.split(delimiter).filter((folder) => folder !== "");
  for (const file of PROGRAMS.flatMap((program) => folders.map((folder) => join(folder, program)))) {
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (executable) return file;
  }
  return undefined;
}

export interface PrivateRedis {
  readonly bus: RedisBus;
  stop(): Promise<void>;
}

export async function startPrivateRedis(program: string, logger: Logger): Promise<PrivateRedis> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToStart(program, await freePort(), logger);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function tryToStart(program: string, port: number, logger: Logger): Promise<PrivateRedis> {
  const folder = await mkdtemp(join(tmpdir(), "jobferry-up-redis-"));
  const guard = new ProcessGuard();
  guard.remove(folder); // also if we are killed
  const password = randomBytes(24).toString("hex");
  const server = launch(program, configuration({ port, folder, password }));
  let bus: RedisBus | undefined;
  const ended = new Promise<never>((_, reject) => {
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`${program} ended with code ${code} while starting`)));
  });
  const stop = async (): Promise<void> => {
    await bus?.close(3_000);
    if (server.pid !== undefined && server.exitCode === null && server.signalCode === null) {
      const exited = once(server, "exit");
      leashOf(server).destroy();
      await exited;
    }
    await guard.close();
  };
  try {
    await Promise.race([untilListening(port), ended]);
    bus = new RedisBus({ config: { url: `redis://:${password}@127.0.0.1:${port}` }, clock: realClock, logger });
    await Promise.race([bus.start(READY_MS), ended]);
    return { bus, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** On standard input, where no other user of the machine can read the password. */
const configuration = ({ port, folder, password }: { port: number; folder: string; password: string }): string =>
  [
    "bind 127.0.0.1",
    `port ${port}`,
    `dir "${folder}"`,
    `requirepass ${password}`,
    "appendonly yes",
    "maxmemory-policy noeviction",
    'save ""',
    "",
  ].join("\n");

/**
 * Beside the server, in its process group, waits a shell for the end of a pipe whose other end only we hold. However we end,
 * the pipe does too, and the shell kills the group. (Redis overwrites its environment, so no marker there would find it.)
 */
const LEASH = '(read -r _ <&3; kill -KILL 0) >/dev/null 2>&1 & exec "$@" 3<&-';

function launch(program: string, config: string): ChildProcess {
  const server = spawn("/bin/sh", ["-c", LEASH, "sh", program, "-"], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  leashOf(server).on("error", () => {});
  server.stdin?.on("error", () => {});
  server.stdin?.end(config);
  return server;
}

const leashOf = (server: ChildProcess): Writable => server.stdio[3] as Writable;

async function untilListening(port: number): Promise<void> {
  const deadline = realClock.monotonic() + READY_MS;
  while (!(await accepts(port))) {
    if (realClock.monotonic() > deadline) throw new Error(`nothing answers on port ${port} after ${READY_MS / 1000} s`);
    await sleep(realClock, LOOK_MS);
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.once("connect", () => socket.destroy());
    socket.once("error", () => resolve(false));
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}
