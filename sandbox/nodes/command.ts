import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Container } from "@jobferry/shared/job/types.ts";

/** A container that cannot be started, as the kubelet reports it: exit code 128 and this message. */
export class StartError extends Error {}

/** Images without an entry point of their own: `args` alone is then the whole command. */
const BARE_IMAGES = new Set([
  "alpine",
  "bash",
  "busybox",
  "centos",
  "debian",
  "fedora",
  "golang",
  "perl",
  "python",
  "ruby",
  "ubuntu",
]);

/** Sleeps until it is told to end, as the pause container does. */
const PAUSE = ["/bin/sh", "-c", "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"];

/**
 * What to execute. No image is pulled, so an image's own command is unknown: `command` must say it, except for a few
 * images that are known to bring none.
 */
export function commandOf(container: Container, env: ReadonlyMap<string, string>): string[] {
  const { command = [], args = [], image = "" } = container;
  const expanded = [...command, ...args].map((word) => expand(word, env));
  if (command.length > 0) return expanded;
  const name = imageName(image);
  if (name === "pause") return PAUSE;
  if (BARE_IMAGES.has(name)) return args.length > 0 ? expanded : ["/bin/sh", "-c", ":"];
  throw new StartError(
    `the sandbox pulls no image, so the command of image "${image}" is unknown: set "command" in container "${container.name}"`,
  );
}

/** `docker.io/library/busybox:1.36@sha256:...` is `busybox`. */
function imageName(image: string): string {
  const path = image.split("@")[0] ?? "";
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last.split(":")[0] ?? "";
}

/** `$(NAME)` becomes the variable's value if it is defined, `$$` a plain `$`. */
export function expand(text: string, env: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$(?:\$|\(([^()]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? "$" : (env.get(name) ?? whole),
  );
}

/** The file to execute, in the container runtime's words when there is none. */
export function findExecutable(word: string, path: string, cwd: string): string {
  const candidates = word.includes("/")
    ? [isAbsolute(word) ? word : join(cwd, word)]
    : path.split(delimiter).map((folder) => join(folder, word));
  let denied = false;
  for (const candidate of candidates) {
    const verdict = probe(candidate);
    if (verdict === "executable") return candidate;
    if (verdict === "denied") denied = true;
  }
  if (denied) throw new StartError(`exec: "${word}": permission denied`);
  throw new StartError(
    word.includes("/")
      ? `exec: "${word}": stat ${word}: no such file or directory`
      : `exec: "${word}": executable file not found in $PATH`,
  );
}

function probe(file: string): "executable" | "denied" | "missing" {
  try {
    if (!statSync(file).isFile()) return "denied";
  } catch {
    return "missing";
  }
  try {
    accessSync(file, constants.X_OK);
    return "executable";
  } catch {
    return "denied";
  }
}
