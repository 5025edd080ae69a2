import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { commandOf, expand, findExecutable, StartError } from "./command.ts";

const env = new Map([
  ["NAME", "world"],
  ["EMPTY", ""],
]);

test.each([
  ["hello $(NAME)", "hello world"],
  ["$(EMPTY)", ""],
  ["$(MISSING)", "$(MISSING)"],
  ["$$(NAME)", "$(NAME)"],
  ["$$$(NAME)", "$world"],
  ["$NAME", "$NAME"],
  ["$(NAME", "$(NAME"],
  ["100$", "100$"],
])("%s expands to %s", (text, expected) => {
  expect(expand(text, env)).toBe(expected);
});

test("command and args are one command line, with variables filled in", () => {
  expect(commandOf({ name: "c", command: ["echo", "$(NAME)"], args: ["a"] }, env)).toEqual(["echo", "world", "a"]);
});

test.each(["busybox", "busybox:1.36", "docker.io/library/busybox@sha256:00", "registry:5000/perl:5.34"])(
  "image %s has no entry point: args alone are the command",
  (image) => {
    expect(commandOf({ name: "c", image, args: ["true"] }, env)).toEqual(["true"]);
  },
);

test("the command of any other image is unknown, and the message says what to set", () => {
  const start = () => commandOf({ name: "main", image: "example.com/app:1", args: ["x"] }, env);
  expect(start).toThrow(StartError);
  expect(start).toThrow(/example.com\/app:1.*set "command" in container "main"/);
});

const folder = mkdtempSync(join(tmpdir(), "jobferry-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("programs are found along PATH or by their path", () => {
  writeFileSync(join(folder, "tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "data"), "", { mode: 0o644 });
  expect(findExecutable("tool", `/nowhere:${folder}`, "/")).toBe(join(folder, "tool"));
  expect(findExecutable("./tool", "", folder)).toBe(join(folder, "tool"));
  expect(() => findExecutable("tool", "/nowhere", "/")).toThrow('exec: "tool": executable file not found in $PATH');
  expect(() => findExecutable("/nowhere/tool", folder, "/")).toThrow("no such file or directory");
  expect(() => findExecutable("./data", "", folder)).toThrow("permission denied");
});
