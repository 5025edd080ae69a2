/** What Go's JSON decoder notices and JavaScript's does not tell: the words of its syntax errors, and repeated keys. */

/** A syntax error, in Go's words. */
export class GoSyntaxError extends Error {}

/** Keys that occur twice in one object, as paths; throws GoSyntaxError on bad syntax. */
export function scanJson(text: string): string[] {
  const scanner = new Scanner(text);
  scanner.value("");
  scanner.end();
  return scanner.repeated;
}

/** Go's complaint about text that JavaScript could not parse. */
export function goComplaint(text: string): string {
  try {
    scanJson(text);
  } catch (error) {
    if (error instanceof GoSyntaxError) return error.message;
    throw error;
  }
  return "unexpected end of JSON input";
}

const LITERALS: Record<string, string> = { t: "true", f: "false", n: "null" };
const MAX_DEPTH = 10_000;

class Scanner {
  readonly repeated: string[] = [];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(path: string): void {
    this.#space();
    const char = this.#peek();
    if (++this.#depth > MAX_DEPTH) throw new GoSyntaxError("exceeded max depth");
    if (char === "{") this.#object(path);
    else if (char === "[") this.#array(path);
    else if (char === '"') this.#string();
    else if (char in LITERALS) this.#literal(LITERALS[char] ?? "");
    else if (/[-0-9]/.test(char)) this.#number();
    else throw this.#unexpected("looking for beginning of value");
    this.#depth--;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected("after top-level value");
  }

  #object(path: string): void {
    this.#at++;
    const keys = new Set<string>();
    this.#space();
    if (this.#take("}")) return;
    for (;;) {
      this.#space();
      if (this.#peek() !== '"') throw this.#unexpected("looking for beginning of object key string");
      const start = this.#at;
      this.#string();
      const key = this.#keyText(start);
      const at = path === "" ? key : `${path}.${key}`;
      if (keys.has(key)) this.repeated.push(at);
      keys.add(key);
      this.#space();
      if (!this.#take(":")) throw this.#unexpected("after object key");
      this.value(at);
      this.#space();
      if (this.#take("}")) return;
      if (!this.#take(",")) throw this.#unexpected("after object key:value pair");
    }
  }

  #keyText(start: number): string {
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #array(path: string): void {
    this.#at++;
    this.#space();
    if (this.#take("]")) return;
    for (let index = 0; ; index++) {
      this.value(`${path}[${index}]`);
      this.#space();
      if (this.#take("]")) return;
      if (!this.#take(",")) throw this.#unexpected("after array element");
    }
  }

  #string(): void {
    this.#at++;
    for (;;) {
      const char = this.#peek();
      if (char < " ") throw this.#unexpected("in string literal");
      this.#at++;
      if (char === '"') return;
      if (char === "\\") this.#escape();
    }
  }

  #escape(): void {
    if (this.#take("u")) {
      for (let digits = 0; digits < 4; digits++) {
        if (!/[0-9a-fA-F]/.test(this.#peek())) throw this.#unexpected("in \\u hexadecimal character escape");
        this.#at++;
      }
    } else if (/["\\/bfnrt]/.test(this.#peek())) this.#at++;
    else throw this.#unexpected("in string escape code");
  }

  #literal(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.#peek() !== word.charAt(i)) throw this.#unexpected(`in literal ${word} (expecting '${word.charAt(i)}')`);
      this.#at++;
    }
  }

  #number(): void {
    this.#take("-");
    if (!/[0-9]/.test(this.#peek())) throw this.#unexpected("in numeric literal");
    if (!this.#take("0")) this.#digits();
    if (this.#take(".")) {
      if (!/[0-9]/.test(this.#softPeek())) throw this.#unexpected("after decimal point in numeric literal");
      this.#digits();
    }
    if (/[eE]/.test(this.#softPeek())) {
      this.#at++;
      if (/[+-]/.test(this.#softPeek())) this.#at++;
      if (!/[0-9]/.test(this.#softPeek())) throw this.#unexpected("in exponent of numeric literal");
      this.#digits();
    }
  }

  #digits(): void {
    while (/[0-9]/.test(this.#softPeek())) this.#at++;
  }

  #space(): void {
    while (" \t\r\n".includes(this.#softPeek() || "x")) this.#at++;
  }

  #softPeek(): string {
    return this.#text.charAt(this.#at);
  }

  #peek(): string {
    if (this.#at >= this.#text.length) throw new GoSyntaxError("unexpected end of JSON input");
    return this.#text.charAt(this.#at);
  }

  #take(char: string): boolean {
    if (this.#softPeek() !== char) return false;
    this.#at++;
    return true;
  }

  #unexpected(context: string): GoSyntaxError {
    if (this.#at >= this.#text.length) return new GoSyntaxError("unexpected end of JSON input");
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const shown = char === "'" ? "'\\''" : char === '"' ? "'\"'" : `'${char}'`;
    return new GoSyntaxError(`invalid character ${shown} ${context}`);
  }
}
