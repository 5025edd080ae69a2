import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { AssignmentRef } from "@jobferry/shared/protocol/delivery.ts";
import { pagesOf, RoundNames } from "@jobferry/shared/protocol/inventory.ts";
import type { AgentTransport } from "@jobferry/shared/queue/transport.ts";
import { type Clock, sleep } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { type Random, randomId } from "@jobferry/shared/runtime/random.ts";
import type { Capacity } from "../capacity/capacity.ts";
import { NodesNews } from "../capacity/nodes-news.ts";
import { generationOf, type Mirrors } from "../mirrors.ts";
import type { Contact } from "./contact.ts";

/** What a heartbeat says of this agent that does not change while it runs. */
export interface About {
  readonly clusterID: string;
  readonly agentVersion: string;
  readonly kubernetesVersion: string;
  readonly managerKeys: string[];
}

export interface HeartbeatOptions {
  transport: Pick<AgentTransport, "sendReport">;
  clock: Clock;
  random: Random;
  logger: Logger;
  contact: Pick<Contact, "stamp" | "nonce">;
  mirrors: Mirrors;
  capacity: Pick<Capacity, "report" | "nodes">;
  /** The manager has done with this Job's mirror, which only waits for the end of its retention. */
  isReleased(ref: AssignmentRef): boolean;
  /** The highest revision of the hub that was ever heard of here; 0 for none. */
  hubRevision(): number;
  /** We have introduced ourselves: whoever listens now may have missed every report. */
  onHello(): void;
  everyMs: number;
  inventoryMs: number;
}

/** Tells the manager at regular intervals that this agent lives, what room there is, and which mirrors it has. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #rounds: RoundNames;
  readonly #nodesNews = new NodesNews();
  #inventoryDue = 0;
  #seen = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#rounds = new RoundNames(randomId(options.random));
    // Somebody may have deleted it by hand: the manager should not find out half a minute later.
    options.mirrors.reflector.addHandler({
      deleted: (mirror) => {
        if (!isFinished(mirror)) this.#inventoryDue = 0;
      },
    });
  }

  /** Until `signal` aborts. */
  async run(about: About, signal: AbortSignal): Promise<void> {
    const { clock, logger, everyMs, inventoryMs } = this.#options;
    let kind: "hello" | "heartbeat" = "hello";
    while (!signal.aborted) {
      try {
        await this.#send(kind, about);
        kind = "heartbeat";
        if (clock.monotonic() >= this.#inventoryDue) {
          this.#inventoryDue = clock.monotonic() + inventoryMs;
          await this.#sendInventory();
        }
      } catch (error) {
        logger.warn({ error }, "heartbeat not sent");
      }
      await sleep(clock, everyMs, signal).catch(() => {});
    }
  }

  /** Redis was away and may have forgotten everything, or we were. */
  async introduce(about: About): Promise<void> {
    try {
      await this.#send("hello", about);
      await this.#sendInventory();
    } catch (error) {
      this.#options.logger.warn({ error }, "could not introduce ourselves again");
    }
  }

  /** The manager could not tell whether we said it just now. Reports need not be repeated for that. */
  async again(kind: "hello" | "heartbeat", about: About): Promise<void> {
    try {
      // With all there is to say: what was not believed may have held news of nodes.
      await this.#say(kind, about, true);
    } catch (error) {
      this.#options.logger.warn({ error }, "could not answer the manager's challenge");
    }
  }

  async #send(kind: "hello" | "heartbeat", about: About): Promise<void> {
    await this.#say(kind, about, kind === "hello");
    if (kind === "hello") this.#options.onHello();
  }

  async #say(kind: "hello" | "heartbeat", about: About, everything: boolean): Promise<void> {
    const { transport, clock, contact, capacity, hubRevision } = this.#options;
    const nodes = capacity.nodes();
    const tellsNodes = everything || this.#nodesNews.isDue(nodes, clock.monotonic());
    await transport.sendReport({
      kind,
      ...about,
      ...capacity.report(),
      ...(tellsNodes ? { nodes } : {}),
      stamp: contact.stamp(),
      nonce: contact.nonce,
      now: Math.max(0, Math.floor(clock.now())),
      resourceVersion: Math.max(1, this.#resourceVersion()),
      ...(hubRevision() > 0 ? { hubRevision: hubRevision() } : {}),
    });
    if (tellsNodes) this.#nodesNews.sent(nodes, clock.monotonic());
  }

  /** While the mirrors are listed anew the reflector has none. */
  #resourceVersion(): number {
    this.#seen = Number(this.#options.mirrors.reflector.resourceVersion) || this.#seen;
    return this.#seen;
  }

  /** None while the mirrors are being listed: what is missing in it would be delivered again. */
  async #sendInventory(): Promise<void> {
    const { mirrors, isReleased, transport } = this.#options;
    if (mirrors.reflector.resourceVersion === "") return;
    const listed = [];
    for (const { mirror, identity } of mirrors.all()) {
      const { uid, epoch } = identity;
      if (!isReleased(identity))
        listed.push({ uid, epoch, generation: generationOf(mirror), finished: isFinished(mirror) });
    }
    const pages = pagesOf(listed);
    const round = this.#rounds.next();
    for (const [index, page] of pages.entries())
      await transport.sendReport({ kind: "inventory", round, page: index + 1, pages: pages.length, mirrors: page });
  }
}
