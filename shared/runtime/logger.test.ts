import { expect, test } from "vitest";
import { createLogger, scrub } from "./logger.ts";

function logged(
  log: (logger: ReturnType<typeof createLogger>) => void,
  level?: "debug" | "info",
): Record<string, unknown>[] {
  const lines: string[] = [];
  const write = (line: string): void => {
    lines.push(line);
  };
  log(createLogger({ name: "test", destination: { write }, ...(level === undefined ? {} : { level }) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a line carries level, time, name, the child's fields and its own", () => {
  const [line] = logged((logger) => logger.child({ cluster: "c1" }).warn({ key: "ns/a" }, "went wrong"));
  expect(line).toMatchObject({ level: "warn", name: "test", cluster: "c1", key: "ns/a", msg: "went wrong" });
  expect(line?.time).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test("the level decides", () => {
  expect(logged((logger) => logger.debug({}, "quiet"))).toEqual([]);
  expect(logged((logger) => logger.debug({}, "said"), "debug")).toHaveLength(1);
});

test("errors show message, stack and cause", () => {
  const error = new Error("outer", { cause: new Error("inner") });
  const [line] = logged((logger) => logger.error({ error }, "failed"));
  expect(line?.error).toMatchObject({
    type: "Error",
    message: expect.stringContaining("inner"),
    stack: expect.any(String),
  });
});

test.each([
  { token: "s3cret" },
  { user: { password: "s3cret" } },
  { request: { headers: { authorization: "s3cret" } } },
  { user: { "client-key-data": "s3cret" } },
  { why: "sent Authorization: Bearer s3cret to it" },
  { url: "redis://agent:s3cret@127.0.0.1:6379/0" },
  { error: new Error("connect to rediss://:s3cret@redis failed") },
  { note: "eyJhbGciOi.eyJpc3MiOi.s3cret" },
])("no secret is written: %j", (fields) => {
  const [line] = logged((logger) => logger.info(fields, "said"));
  expect(JSON.stringify(line)).not.toContain("s3cret");
  expect(JSON.stringify(line)).toContain("[redacted]");
});

test("ordinary text stays as it is", () => {
  const text = 'https://127.0.0.1:6443/api?x=a@b {"a":"b:c@d"} Bearer';
  expect(scrub(text)).toBe(text);
});

test("a long message of an API server is cut, and what else it brought is left out", () => {
  const env = `PASSWORD=${"x".repeat(600)}hunter2`;
  const error = Object.assign(new Error(`Job is invalid: ${env}`), {
    code: 422,
    reason: "Invalid",
    status: { message: env },
  });
  const [line] = logged((logger) => logger.warn({ error }, "failed"));
  expect(line?.error).toMatchObject({
    code: 422,
    reason: "Invalid",
    message: expect.stringMatching(/^Job is invalid/),
  });
  expect(JSON.stringify(line)).not.toContain("hunter2");
});

test("a line of 1.6 MB that is made to be slow to scrub comes through", () => {
  // Seven seconds for 80 kB, and growing with the square, when it was one regular expression.
  const line = "eyJ-".repeat(400_000);
  expect(scrub(line)).toBe(line);
});

test.each([
  ["the beginning of a token", "eyJ-"],
  ["almost tokens", "eyJa.eyJb."],
  ["bearers", "Bearer "],
  ["addresses", "a://b:"],
  ["one long word", "a"],
  ["dots", "."],
])("what is searched for secrets is passed over once, however it is made: %s", (_, part) => {
  const stepsOf = (length: number): number => {
    const line = part.repeat(Math.ceil(length / part.length));
    return measured(() => scrub(line));
  };
  // Ten times as long may take some forty times as long on a busy machine; with a quadratic search it takes a hundred.
  expect(stepsOf(400_000) / Math.max(1, stepsOf(40_000))).toBeLessThan(50);
});

/** The least of some runs, in microseconds of CPU: what disturbs a run only adds to it. */
function measured(work: () => unknown): number {
  const runs = Array.from({ length: 5 }, () => {
    const started = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(started);
    return user + system;
  });
  return Math.min(...runs);
}
