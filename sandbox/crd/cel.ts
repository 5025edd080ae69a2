/**
 * The part of the Common Expression Language that validation rules of our own definitions need: literals, fields, indexing,
 * logic, comparison, arithmetic `+` and `-`, `in`, the conditional, and the functions below. A rule that needs more is refused.
 */
export class CelError extends Error {}

export interface Expression {
  evaluate(scope: Record<string, unknown>): unknown;
  mentions(name: string): boolean;
}

type Node = (scope: Record<string, unknown>) => unknown;

export function compile(text: string): Expression {
  const parser = new Parser(text);
  const node = parser.parse();
  return { evaluate: node, mentions: (name) => parser.names.has(name) };
}

const TOKEN =
  /\s*(?:(\d+\.\d+|\d+)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+!<>?:.,()[\]]))/y;

class Parser {
  readonly names = new Set<string>();
  readonly #text: string;
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const start = TOKEN.lastIndex;
      const match = TOKEN.exec(text);
      if (match === null) throw this.#problem(`cannot read "${text.slice(start)}"`);
      this.#tokens.push(match[0].trim());
    }
  }

  parse(): Node {
    const node = this.#conditional();
    if (this.#at < this.#tokens.length) throw this.#problem(`unexpected "${this.#peek()}"`);
    return node;
  }

  #conditional(): Node {
    const test = this.#binary(0);
    if (!this.#skip("?")) return test;
    const yes = this.#conditional();
    this.#expect(":");
    const no = this.#conditional();
    return (scope) => (isTrue(test(scope)) ? yes(scope) : no(scope));
  }

  #binary(level: number): Node {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let operator = operators[this.#peek()]; operator !== undefined; operator = operators[this.#peek()]) {
      this.#at++;
      const [first, second, combine] = [left, this.#binary(level + 1), operator];
      left = (scope) =>
        combine(
          () => first(scope),
          () => second(scope),
        );
    }
    return left;
  }

  #unary(): Node {
    if (this.#skip("!")) {
      const node = this.#unary();
      return (scope) => !isTrue(node(scope));
    }
    if (this.#skip("-")) {
      const node = this.#unary();
      return (scope) => -numberOf(node(scope));
    }
    return this.#postfix(this.#primary());
  }

  #postfix(start: Node): Node {
    let node = start;
    for (;;) {
      const target = node;
      if (this.#skip(".")) {
        const name = this.#take();
        node = this.#peek() === "(" ? this.#call(name, target) : (scope) => fieldOf(target(scope), name);
      } else if (this.#skip("[")) {
        const index = this.#conditional();
        this.#expect("]");
        node = (scope) => fieldOf(target(scope), index(scope));
      } else return node;
    }
  }

  #primary(): Node {
    const token = this.#take();
    if (token === "(") {
      const node = this.#conditional();
      this.#expect(")");
      return node;
    }
    if (token === "[") return this.#list();
    if (/^\d/.test(token)) return () => Number(token);
    if (/^["']/.test(token)) {
      const value = unquote(token);
      return () => value;
    }
    if (token in CONSTANTS) return () => CONSTANTS[token];
    if (!/^[A-Za-z_]/.test(token)) throw this.#problem(`unexpected "${token}"`);
    if (token === "has") return this.#has();
    if (this.#peek() === "(") return this.#call(token, undefined);
    this.names.add(token);
    return (scope) => fieldOf(scope, token);
  }

  #list(): Node {
    const items = this.#until("]");
    return (scope) => items.map((item) => item(scope));
  }

  #has(): Node {
    this.#expect("(");
    const node = this.#conditional();
    this.#expect(")");
    return (scope) => {
      try {
        return node(scope) !== undefined;
      } catch (error) {
        if (error instanceof CelError) return false;
        throw error;
      }
    };
  }

  #call(name: string, target: Node | undefined): Node {
    this.#expect("(");
    const given = this.#until(")");
    const apply = FUNCTIONS[name];
    if (apply === undefined) throw this.#problem(`the function ${name} is not known to the sandbox`);
    const all = target === undefined ? given : [target, ...given];
    return (scope) => apply(...all.map((argument) => argument(scope)));
  }

  #until(end: string): Node[] {
    const nodes: Node[] = [];
    while (!this.#skip(end)) {
      if (nodes.length > 0) this.#expect(",");
      nodes.push(this.#conditional());
    }
    return nodes;
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #take(): string {
    const token = this.#peek();
    if (token === "") throw this.#problem("it ends too early");
    this.#at++;
    return token;
  }

  #skip(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#skip(token)) throw this.#problem(`expected "${token}", found "${this.#peek()}"`);
  }

  #problem(detail: string): CelError {
    return new CelError(`compilation failed: ${detail} in ${JSON.stringify(this.#text)}`);
  }
}

type Combine = (left: () => unknown, right: () => unknown) => unknown;

const order = (test: (order: number) => boolean): Combine => {
  return (left, right) => test(compare(left(), right()));
};

/** Loosest binding first. */
const LEVELS: Record<string, Combine>[] = [
  { "||": (left, right) => isTrue(left()) || isTrue(right()) },
  { "&&": (left, right) => isTrue(left()) && isTrue(right()) },
  {
    "==": (left, right) => JSON.stringify(left()) === JSON.stringify(right()),
    "!=": (left, right) => JSON.stringify(left()) !== JSON.stringify(right()),
    "<": order((sign) => sign < 0),
    "<=": order((sign) => sign <= 0),
    ">": order((sign) => sign > 0),
    ">=": order((sign) => sign >= 0),
    in: (left, right) => contains(right(), left()),
  },
  {
    "+": (left, right) => plus(left(), right()),
    "-": (left, right) => numberOf(left()) - numberOf(right()),
  },
];

const CONSTANTS: Record<string, unknown> = { true: true, false: false, null: null };

const FUNCTIONS: Record<string, (...values: unknown[]) => unknown> = {
  size: (value) => {
    if (typeof value === "string") return [...value].length;
    if (Array.isArray(value)) return value.length;
    if (typeof value === "object" && value !== null) return Object.keys(value).length;
    throw new CelError("size() of a value that has none");
  },
  matches: (text, pattern) => new RegExp(stringOf(pattern), "u").test(stringOf(text)),
  startsWith: (text, prefix) => stringOf(text).startsWith(stringOf(prefix)),
  endsWith: (text, suffix) => stringOf(text).endsWith(stringOf(suffix)),
  contains: (text, part) => stringOf(text).includes(stringOf(part)),
  duration: (text) => seconds(stringOf(text)),
};

const UNITS: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** A Go duration like `1h30m`, in seconds. */
function seconds(text: string): number {
  if (text === "0") return 0;
  const sign = text.startsWith("-") ? -1 : 1;
  const body = text.replace(/^[-+]/, "");
  if (!/^(\d+(\.\d*)?(h|ms|us|µs|ns|m|s))+$/.test(body)) throw new CelError(`${text} is no duration`);
  let total = 0;
  for (const [, number = "", , unit = ""] of body.matchAll(/(\d+(\.\d*)?)(h|ms|us|µs|ns|m|s)/g))
    total += Number(number) * (UNITS[unit] ?? 0);
  return sign * total;
}

function isTrue(value: unknown): boolean {
  if (typeof value !== "boolean") throw new CelError("no such overload: expected a boolean");
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== "number") throw new CelError("no such overload: expected a number");
  return value;
}

function stringOf(value: unknown): string {
  if (typeof value !== "string") throw new CelError("no such overload: expected a string");
  return value;
}

function compare(left: unknown, right: unknown): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  throw new CelError("no such overload: values that cannot be ordered");
}

function plus(left: unknown, right: unknown): unknown {
  if (typeof left === "string" && typeof right === "string") return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  return numberOf(left) + numberOf(right);
}

function contains(container: unknown, value: unknown): boolean {
  if (Array.isArray(container)) return container.some((item) => JSON.stringify(item) === JSON.stringify(value));
  return typeof container === "object" && container !== null && Object.hasOwn(container, String(value));
}

function fieldOf(value: unknown, key: unknown): unknown {
  if (Array.isArray(value) && typeof key === "number" && key >= 0 && key < value.length) return value[key];
  if (typeof value === "object" && value !== null && typeof key === "string" && Object.hasOwn(value, key))
    return (value as Record<string, unknown>)[key];
  throw new CelError(`no such key: ${String(key)}`);
}

function unquote(token: string): string {
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r" };
  return token.slice(1, -1).replaceAll(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
}
