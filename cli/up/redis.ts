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
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";

const PROGRAMS = ["redis-server", "valkey-server"];
const READY_MS = 10_000;
const LOOK_MS = 20;
/** Another process may take the port between our look and the server's. */
const ATTEMPTS = 3;
/** One that does not come back in these has a reason that waiting does not remove. */
const RESTARTS = 5;
const FIRST_PAUSE_MS = 200;

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
  /** Settles when the server has ended and cannot be brought back. */
  readonly failed: Promise<Error>;
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
  const server = new SupervisedServer({ program, port, config: configuration({ port, folder, password }), logger });
  let bus: RedisBus | undefined;
  const stop = async (): Promise<void> => {
    await bus?.close(3_000);
    await server.stop();
    await guard.close();
  };
  try {
    await server.start();
    bus = new RedisBus({ config: { url: `redis://:${password}@127.0.0.1:${port}` }, clock: realClock, logger });
    await Promise.race([bus.start(READY_MS), server.failed.then((error) => Promise.reject(error))]);
    return { bus, failed: server.failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Not the user's mistake, but for the user to mend. */
class RedisLostError extends ConfigError {
  override readonly exitCode = 1;
}

interface ServerOptions {
  program: string;
  port: number;
  config: string;
  logger: Logger;
}

/** Starts the server again when it ends by itself, on the same port and files: clients reconnect and find what they left. */
class SupervisedServer {
  readonly #options: ServerOptions;
  readonly failed: Promise<Error>;
  #fail: (error: Error) => void = () => {};
  #server: ChildProcess | undefined;
  #stopping = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  async start(): Promise<void> {
    const { program, port, config } = this.#options;
    const server = launch(program, config);
    this.#server = server;
    const ended = new Promise<never>((_, reject) => {
      server.once("error", reject);
      server.once("exit", (code) => reject(new Error(`${program} ended with code ${code} while starting`)));
    });
    await Promise.race([untilListening(port), ended]);
    ended.catch(() => void this.#bringBack());
  }

  async #bringBack(): Promise<void> {
    const { program, logger } = this.#options;
    for (let attempt = 1, pause = FIRST_PAUSE_MS; !this.#stopping; attempt++, pause *= 2) {
      if (attempt > RESTARTS) {
        const sentence = `the private Redis (${program}) ended and could not be started again in ${RESTARTS} tries`;
        this.#fail(new RedisLostError(`${sentence}; look for why it ends, or give one that runs with --redis`));
        return;
      }
      logger.warn({ program, attempt }, "the private Redis has ended: starting it again");
      await sleep(realClock, pause);
      if (this.#stopping) return;
      const started = await this.start().then(
        () => true,
        () => false,
      );
      if (started) return;
      await this.#end();
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const server = this.#server;
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    leashOf(server).destroy();
    await exited;
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
  // Ends the waiting shell too, when the server has ended by itself; it and the pipe would outlive us.
  server.once("exit", () => leashOf(server).destroy());
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
