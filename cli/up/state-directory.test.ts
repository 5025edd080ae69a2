import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@jobferry/shared/runtime/config-error.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StateDirectory, stateDirectory } from "./state-directory.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "jobferry-test-"));
});
afterEach(() => rmSync(root, { recursive: true }));

test("--dir wins, then XDG_STATE_HOME, then the home directory", () => {
  expect(stateDirectory("/a/b", { XDG_STATE_HOME: "/state" })).toBe("/a/b");
  expect(stateDirectory(undefined, { XDG_STATE_HOME: "/state" })).toBe("/state/jobferry");
  expect(stateDirectory(undefined, {})).toBe(join(homedir(), ".local/state/jobferry"));
});

test("files are for their owner only, and gone when released", () => {
  const directory = StateDirectory.claim(join(root, "new"));
  const file = directory.write("hub.kubeconfig", "text");
  expect(readFileSync(file, "utf8")).toBe("text");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(join(directory.path, "mine"), "");
  directory.release();
  expect(readdirSync(directory.path)).toEqual(["mine"]);
});

test("a directory of a running fleet is refused; one of a dead fleet is taken over", () => {
  writeFileSync(join(root, "up.pid"), `${process.ppid}\n`);
  expect(() => StateDirectory.claim(root)).toThrow(ConfigError);
  expect(() => StateDirectory.claim(root)).toThrow(`process ${process.ppid}): stop it or name another directory`);
  writeFileSync(join(root, "up.pid"), "4194305\n");
  StateDirectory.claim(root).release();
  expect(existsSync(join(root, "up.pid"))).toBe(false);
});

test("a directory that cannot be made is named", () => {
  writeFileSync(join(root, "file"), "");
  StateDirectory.claim(join(root, "deep", "below")).release();
  expect(() => StateDirectory.claim("/proc/nowhere")).toThrow(ConfigError);
  expect(() => StateDirectory.claim(join(root, "file", "below"))).toThrow(/--dir: .*cannot be used.*may write to/);
});
