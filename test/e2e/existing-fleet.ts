/** `jobferry up --hub ... --worker ...` as a process, and what it says. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";

const main = join(import.meta.dirname, "../../cli/main.ts");
const READY_MS = 200_000;

interface Said {
  event: string;
  [field: string]: unknown;
}

export class ExistingFleetProcess {
  readonly said: Said[] = [];
  /** Once all that it said has been read. */
  readonly exited: Promise<[number | null, string | null]>;
  readonly #child;
  #errors = "";

  private constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [main, "up", "--output", "json", ...args], {
      env: { ...process.env, REDIS_URL: "", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.exited = once(this.#child, "close") as Promise<[number | null, string | null]>;
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.said.push(JSON.parse(line) as Said));
  }

  /** Resolves when it is ready. */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ExistingFleetProcess> {
    const fleet = new ExistingFleetProcess(args, env);
    for (const deadline = performance.now() + READY_MS; !fleet.isReady; await delay(100)) {
      if (fleet.#hasEnded) throw new Error(`jobferry up ended: ${fleet.errors}`);
      if (performance.now() < deadline) continue;
      fleet.kill();
      throw new Error(`jobferry up was not ready in time: ${fleet.errors}`);
    }
    return fleet;
  }

  get isReady(): boolean {
    return this.said.some(({ event }) => event === "ready");
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Its standard error so far. */
  get errors(): string {
    return this.#errors;
  }

  /** As Ctrl-C does. */
  async interrupt(): Promise<void> {
    this.#child.kill("SIGINT");
    expect(await this.exited).toEqual([0, null]);
  }

  kill(): void {
    if (!this.#hasEnded) this.#child.kill("SIGKILL");
  }
}
