/** Puts a prefix before each line of a stream that comes in chunks. Without a prefix, chunks pass as they come. */
export class Lines {
  readonly #prefix: string;
  readonly #write: (text: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(prefix: string, write: (text: string) => void) {
    this.#prefix = prefix;
    this.#write = write;
  }

  add(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#prefix === "") {
      this.#write(text);
      return;
    }
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#write(`${this.#prefix}${line}\n`);
  }

  /** What has no line break yet gets one. */
  end(): void {
    if (this.#rest !== "") this.#write(`${this.#prefix}${this.#rest}\n`);
    this.#rest = "";
  }
}
