import { events } from "@jobferry/shared/kube/resources.ts";
import type { ApiServer } from "../api-server.ts";
import type { Stored } from "../store/frozen.ts";

/** As a real server by default: events live for an hour after their last write. */
const LIFETIME_MS = 3_600_000;
const SWEEP_MS = 300_000;

/** Keeps the events of a long run from piling up. Sleeps while there are none. */
export class EventExpiry {
  readonly #server: ApiServer;
  #unsubscribe: (() => void) | undefined;
  #cancel: (() => void) | undefined;

  constructor(server: ApiServer) {
    this.#server = server;
  }

  start(): void {
    this.#unsubscribe = this.#server.store.onChange(({ object }) => {
      if (object.kind === events.kind) this.#sweepLater();
    });
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#cancel?.();
  }

  #sweepLater(): void {
    this.#cancel ??= this.#server.clock.after(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#cancel = undefined;
    const { store, clock } = this.#server;
    const table = store.table(this.#server.type(events));
    const expired = [...table.values()].filter((event) => lastWrite(event) < clock.now() - LIFETIME_MS);
    for (const event of expired) store.remove(table, event);
    if (table.size > 0) this.#sweepLater();
  }
}

function lastWrite({ metadata, lastTimestamp }: Stored): number {
  const times = [metadata.creationTimestamp, lastTimestamp].map((time) => Date.parse(String(time)));
  return Math.max(...times.filter((time) => !Number.isNaN(time)));
}
