/**
 * The part of the Common Expression Language that the rules of our own definitions and our admission policy need: literals,
 * fields, indexing, logic, comparison, arithmetic `+` and `-`, `in`, the conditional, objects such as `Object.spec{a: 1}`, and
 * the functions of values.ts. An expression that needs more is refused.
 */
import { CelError, CONSTANTS, compare, contains, FUNCTIONS, fieldOf, isTrue, numberOf, plus } from "./values.ts";

export interface Expression {
  evaluate(scope: Record<string, unknown>): unknown;
  mentions(name: string): boolean;
}

type Node = (scope: Record<string, unknown>) => unknown;

/** `variables` are the names that the scope will have. */
export function compile(text: string, variables: readonly string[]): Expression {
  const parser = new Parser(text, variables);
  const node = parser.parse();
  return { evaluate: node, mentions: (name) => parser.names.has(name) };
}

const TOKEN =
  /\s*(?:(\d+\.\d+|\d+)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+!<>?:.,()[\]{}]))/y;
const NAME = /^[A-Za-z_]/;

class Parser {
  readonly names = new Set<string>();
  readonly #text: string;
  readonly #variables: readonly string[];
  readonly #tokens: string[] = [];
  #at = 0;

  constructor(text: string, variables: readonly string[]) {
    this.#text = text;
    this.#variables = variables;
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
    if (!NAME.test(token)) throw this.#problem(`unexpected "${token}"`);
    if (token === "has") return this.#has();
    if (this.#peek() === "(") return this.#call(token, undefined);
    if (token === "Object") return this.#object();
    if (!this.#variables.includes(token)) throw this.#problem(`undeclared reference to '${token}'`);
    this.names.add(token);
    return (scope) => fieldOf(scope, token);
  }

  #list(): Node {
    const items = this.#until("]");
    return (scope) => items.map((item) => item(scope));
  }

  /** After `Object`: the rest of the type's name, then the fields. What type it is follows from where it stands. */
  #object(): Node {
    while (this.#skip(".")) this.#take();
    this.#expect("{");
    const fields: [string, Node][] = [];
    while (!this.#skip("}")) {
      if (fields.length > 0) this.#expect(",");
      const name = this.#take();
      if (!NAME.test(name)) throw this.#problem(`"${name}" is not the name of a field`);
      this.#expect(":");
      fields.push([name, this.#conditional()]);
    }
    return (scope) => Object.fromEntries(fields.map(([name, value]) => [name, value(scope)]));
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

function unquote(token: string): string {
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r" };
  return token.slice(1, -1).replaceAll(/\\(.)/g, (_, char: string) => escapes[char] ?? char);
}
