import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

interface Link {
  client: Socket;
  upstream: Socket;
  frozen: boolean;
  dropsAnswer: boolean;
}

/**
 * Stands between a client and a server, on the level of connections: it knows nothing of TLS or HTTP, so what passes is
 * genuine, and what does not pass fails as a network does.
 */
export class FlakyProxy {
  #target: { host: string; port: number };
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #refusing = false;
  #delayMs = 0;
  #holding = false;
  #accepted = 0;

  private constructor(target: string) {
    this.#target = addressOf(target);
    this.#server = createServer((client) => this.#accept(client));
  }

  /** A proxy on 127.0.0.1 for the server at `target`. */
  static async to(target: string): Promise<FlakyProxy> {
    const proxy = new FlakyProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections accepted so far. */
  get accepted(): number {
    return this.#accepted;
  }

  /** New connections go to another server; those there are stay. */
  redirect(target: string): void {
    this.#target = addressOf(target);
  }

  /** Breaks every connection there is. */
  cut(): void {
    for (const link of this.#links) destroy(link);
  }

  /** Breaks every connection and every new one, until `restore`. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  /** The connections there are pass nothing any more, in either direction, and stay open. */
  freeze(): void {
    for (const link of this.#links) {
      link.frozen = true;
      pause(link);
    }
  }

  /** Nothing passes, on the connections there are and on new ones, until `restore`: then it all arrives, late. */
  hold(): void {
    this.#holding = true;
    for (const link of this.#links) pause(link);
  }

  /** The connections there are carry the next request, and break when the server answers. */
  dropAnswers(): void {
    for (const link of this.#links) link.dropsAnswer = true;
  }

  /** What the server sends arrives this much later. */
  slowDown(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Passes everything again; what was broken or frozen stays so. */
  restore(): void {
    this.#refusing = false;
    this.#delayMs = 0;
    if (!this.#holding) return;
    this.#holding = false;
    for (const { frozen, client, upstream } of this.#links) {
      if (frozen) continue;
      client.resume();
      upstream.resume();
    }
  }

  async close(): Promise<void> {
    this.refuse();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket): void {
    this.#accepted++;
    if (this.#refusing) {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const link: Link = { client, upstream: connect(this.#target), frozen: false, dropsAnswer: false };
    this.#links.add(link);
    for (const socket of [link.client, link.upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => destroy(link));
      socket.on("close", () => {
        destroy(link);
        this.#links.delete(link);
      });
    }
    client.on("data", (chunk) => link.upstream.write(chunk));
    client.on("end", () => link.upstream.end());
    link.upstream.on("data", (chunk) => this.#passAnswer(link, chunk));
    link.upstream.on("end", () => this.#later(() => client.end()));
    if (this.#holding) pause(link);
  }

  #passAnswer(link: Link, chunk: Buffer): void {
    if (link.dropsAnswer) destroy(link);
    this.#later(() => {
      if (!link.frozen && !link.client.destroyed) link.client.write(chunk);
    });
  }

  #later(act: () => void): void {
    if (this.#delayMs === 0) act();
    else setTimeout(act, this.#delayMs);
  }
}

function pause({ client, upstream }: Link): void {
  client.pause();
  upstream.pause();
}

function destroy({ client, upstream }: Link): void {
  client.destroy();
  upstream.destroy();
}

function addressOf(target: string): { host: string; port: number } {
  const { hostname, port } = new URL(target);
  return { host: hostname, port: Number(port) };
}
