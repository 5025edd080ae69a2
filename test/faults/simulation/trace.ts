/** What happened, in order: all of it in the hash, the lines that a reader needs in a ring. */
export class Trace {
  readonly #lines: string[] = [];
  readonly #keep: number;
  #hash = 0x811c9dc5;
  #pulses = 0;
  #now = 0;

  constructor(keep = 4_000) {
    this.#keep = keep;
  }

  /** Tasks that ran. */
  get pulses(): number {
    return this.#pulses;
  }

  get hash(): string {
    return this.#hash.toString(16).padStart(8, "0");
  }

  pulse(now: number, label: string): void {
    this.#pulses++;
    this.#now = now;
    this.#mix(now);
    this.#mixText(label);
  }

  say(line: string): void {
    this.#mixText(line);
    this.#lines.push(`${(this.#now / 1000).toFixed(3).padStart(8)} ${line}`);
    if (this.#lines.length > 2 * this.#keep) this.#lines.splice(0, this.#keep);
  }

  lines(): readonly string[] {
    return this.#lines;
  }

  #mixText(text: string): void {
    for (let i = 0; i < text.length; i++) this.#mix(text.charCodeAt(i));
  }

  /** FNV-1a, over words. */
  #mix(word: number): void {
    this.#hash = Math.imul(this.#hash ^ word, 0x01000193) >>> 0;
  }
}
