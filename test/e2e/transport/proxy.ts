import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Stands, but nothing comes through any more. */
  silent: boolean;
}

/** Stands between a client and Redis, and can break: cleanly, or without a word to either side. */
export class TcpProxy {
  readonly #links = new Set<Link>();
  readonly #server: Server;
  #mode: "open" | "cut" | "silent" = "open";

  private constructor(target: URL) {
    this.#server = createServer((client) => this.#accept(client, target));
  }

  static async start(target: URL): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  open(): void {
    this.#mode = "open";
  }

  /** Connections end, and new ones fail. */
  cut(): void {
    this.#mode = "cut";
    this.#destroy();
  }

  /** Connections stay up but go dead, as behind a firewall that forgot them; new ones too until `open`. */
  silence(): void {
    this.#mode = "silent";
    for (const link of this.#links) link.silent = true;
  }

  async stop(): Promise<void> {
    this.#destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket, target: URL): void {
    client.on("error", () => {});
    if (this.#mode === "cut") {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname).on("error", () => {});
    const link: Link = { client, upstream, silent: this.#mode === "silent" };
    this.#links.add(link);
    client.on("data", (bytes) => link.silent || upstream.write(bytes));
    upstream.on("data", (bytes) => link.silent || client.write(bytes));
    client.on("close", () => {
      upstream.destroy();
      this.#links.delete(link);
    });
    upstream.on("close", () => link.silent || client.destroy());
  }

  #destroy(): void {
    for (const { client, upstream } of this.#links) {
      client.destroy();
      upstream.destroy();
    }
  }
}
