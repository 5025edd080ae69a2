/** Rules about what our processes ask of API servers, carried out or not. */
import type { Job, Pod } from "@jobferry/shared/job/types.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { Request } from "./api-server.ts";
import type { Book } from "./book.ts";
import type { Violations } from "./violations.ts";
import type { World, WorldObserver } from "./world.ts";

const WRITES = new Set(["create", "replace", "patch", "delete"]);
/** Of one Job, by managers. More than that is a loop that does not wait. */
const MAX_PER_SECOND = 20;

export class RulesOfRequests implements WorldObserver {
  readonly #world: World;
  readonly #book: Book;
  readonly #violations: Violations;
  readonly #recent = new Map<string, number[]>();
  /** Requests that go for something that is not ours; `guarded`: they name the UID of something else, and cannot hit it. */
  readonly #aimed = new WeakMap<Request, { readonly guarded: boolean }>();
  /** Jobs and pods on workers by name, ours or not. */
  readonly #stored = new Map<string, Job | Pod>();

  constructor(world: World, book: Book, violations: Violations) {
    this.#world = world;
    this.#book = book;
    this.#violations = violations;
    for (const [name, { cluster }] of world.workers)
      cluster.onChange(({ object }, _, deleted) => {
        if (object.kind !== "Job" && object.kind !== "Pod") return;
        const key = `${name}/${object.kind === "Job" ? "jobs" : "pods"}/${object.metadata.name}`;
        if (deleted) this.#stored.delete(key);
        else this.#stored.set(key, object as unknown as Job);
      });
  }

  onRequest(request: Request): undefined {
    if (!WRITES.has(request.verb) || request.dryRun) return;
    const { resource, key, cluster, party, verb, subresource } = request;
    const { plural } = resource;
    if (plural !== "jobs" && plural !== "pods") return;
    this.#world.trace.say(
      `${party.name} ${verb} ${plural}/${key.name ?? ""}${subresource === undefined ? "" : "/status"}`,
    );
    if (cluster === "hub") this.#rate(key.name ?? "");
    else if (verb !== "create") this.#aim(request, this.#stored.get(`${cluster}/${plural}/${key.name ?? ""}`));
  }

  onAnswer(request: Request, error: unknown): undefined {
    const { resource, key, cluster, party, subresource, verb } = request;
    const aimed = this.#aimed.get(request);
    if (aimed !== undefined) {
      // Refused for what it says, and not because it is somebody else's: with other words it would have been carried out.
      const byLuck = error instanceof ApiError && error.code === 422 && !aimed.guarded;
      if (error === undefined || byLuck)
        this.#violations.add(
          "strangers are not touched",
          key.name ?? "",
          `${verb} of ${resource.plural} on ${cluster}`,
        );
      return;
    }
    // E.4: the server finds no status of ours invalid.
    if (resource.plural !== "jobs" || !(error instanceof ApiError) || error.code !== 422) return;
    const what = `${party.name} wrote ${subresource ?? "the Job"} on ${cluster}: ${error.message.slice(0, 300)}`;
    this.#violations.add("status is valid", key.name ?? "", what);
  }

  #rate(name: string): void {
    const { elapsed } = this.#world.scheduler;
    const recent = (this.#recent.get(name) ?? []).filter((at) => at > elapsed - 1_000);
    recent.push(elapsed);
    this.#recent.set(name, recent);
    if (recent.length > MAX_PER_SECOND)
      this.#violations.add("no hot loop", name, `${recent.length} writes of one Job within a second`);
  }

  #aim(request: Request, target: Job | Pod | undefined): void {
    const uid = target?.metadata.uid;
    if (uid === undefined) return;
    const isOurs = request.resource.plural === "jobs" ? this.#book.mirrors.has(uid) : this.#book.pods.has(uid);
    if (isOurs) return;
    const named = (request.body as { metadata?: { uid?: string } } | undefined)?.metadata?.uid;
    this.#aimed.set(request, { guarded: named !== undefined && named !== uid });
  }
}
