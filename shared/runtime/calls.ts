/** Questions and answers between a thread and the program that started it. What is asked and answered is copied. */

/** The other side: a Worker, or the port to its parent. */
export interface CallPort {
  postMessage(message: unknown): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

export type Handlers = Readonly<Record<string, (argument: never) => unknown>>;

/** The other side failed. `code` is what its error had. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: number | undefined;

  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}
type Answer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code?: number } }
);

export class Calls {
  readonly #port: CallPort;
  readonly #handlers: Handlers;
  readonly #open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #next = 0;

  constructor(port: CallPort, handlers: Handlers) {
    this.#port = port;
    this.#handlers = handlers;
    port.on("message", (message) => {
      const heard = message as Question | Answer;
      if ("name" in heard) void this.#answer(heard);
      else this.#settle(heard);
    });
  }

  call<T>(name: string, argument?: unknown): Promise<T> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve: (value) => resolve(value as T), reject });
      this.#port.postMessage({ id, name, argument } satisfies Question);
    });
  }

  async #answer({ id, name, argument }: Question): Promise<void> {
    try {
      const result = await this.#handlers[name]?.(argument as never);
      this.#port.postMessage({ id, result } satisfies Answer);
    } catch (error) {
      const { message, code } = error as Error & { code?: unknown };
      const known = typeof code === "number" ? { code } : {};
      this.#port.postMessage({ id, error: { message, ...known } } satisfies Answer);
    }
  }

  #settle(answer: Answer): void {
    const open = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if ("error" in answer) open?.reject(new CallError(answer.error.message, answer.error.code));
    else open?.resolve(answer.result);
  }
}
