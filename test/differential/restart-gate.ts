/**
 * Controllers are shared by all cases, so they restart when every case that wants it has come this far: all wait, both
 * controllers end, all play what happens meanwhile, both controllers start, all go on.
 */
export class RestartGate {
  readonly #controllers: { stop(): Promise<void>; start(): Promise<void> };
  readonly #stopped = Promise.withResolvers<void>();
  readonly #started = Promise.withResolvers<void>();
  #approaching: number;
  #inside: number;

  constructor(cases: number, controllers: { stop(): Promise<void>; start(): Promise<void> }) {
    this.#approaching = cases;
    this.#inside = cases;
    this.#controllers = controllers;
    for (const { promise } of [this.#stopped, this.#started]) promise.catch(() => {});
  }

  /** Plays `meanwhile` while no controller runs. */
  async pass(meanwhile: () => Promise<void>): Promise<void> {
    this.#arrive();
    await this.#stopped.promise;
    try {
      await meanwhile();
    } finally {
      this.#leave();
    }
    await this.#started.promise;
  }

  /** A case that ended early does not keep the others waiting. */
  skip(): void {
    this.#arrive();
    this.#leave();
  }

  #arrive(): void {
    if (--this.#approaching === 0) this.#controllers.stop().then(this.#stopped.resolve, this.#stopped.reject);
  }

  #leave(): void {
    if (--this.#inside === 0) {
      this.#stopped.promise.then(() => this.#controllers.start()).then(this.#started.resolve, this.#started.reject);
    }
  }
}
