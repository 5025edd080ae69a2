import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Entries of one kind that stay: enough to switch between two branches without building again. */
const keptVersions = 3;

const cacheRoot = (): string => join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "jobferry");

/** A short name for exactly these contents. */
export async function hashOf(files: readonly string[], ...extra: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) {
    const content = await readFile(file);
    hash.update(`${content.length}\0`).update(content);
  }
  for (const text of extra) hash.update(`${text.length}\0${text}`);
  return hash.digest("hex").slice(0, 16);
}

/**
 * The folder `<cache>/<kind>/<version>`, filled by `fill` if it is not there yet. Readers see it whole or not at all;
 * of several processes one fills and the others wait.
 */
export async function cached(options: {
  kind: string;
  version: string;
  waiting: (holder: number) => void;
  fill: (directory: string) => Promise<void>;
}): Promise<string> {
  const parent = join(cacheRoot(), options.kind);
  const entry = join(parent, options.version);
  if (await touch(entry)) return entry;
  await mkdir(parent, { recursive: true });
  const unlock = await lock(join(parent, `${options.version}.lock`), options.waiting);
  try {
    if (await touch(entry)) return entry;
    const draft = await mkdtemp(join(parent, ".draft-"));
    try {
      await options.fill(draft);
      await rename(draft, entry);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    await prune(parent, options.version);
    return entry;
  } finally {
    await unlock();
  }
}

async function touch(entry: string): Promise<boolean> {
  const now = new Date();
  return utimes(entry, now, now).then(
    () => true,
    () => false,
  );
}

/** A file that holds its owner's pid. A dead owner's lock is taken over; should two take it over at once, both do the work. */
async function lock(path: string, waiting: (holder: number) => void): Promise<() => Promise<void>> {
  let told = false;
  for (;;) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(String(process.pid));
      await file.close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = Number(await readFile(path, "utf8").catch(() => ""));
    if (holder > 0 && !alive(holder)) await rm(path, { force: true });
    else {
      if (!told && holder > 0) waiting(holder);
      told ||= holder > 0;
      await delay(500);
    }
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function prune(parent: string, current: string): Promise<void> {
  const entries = (await readdir(parent)).filter((name) => name !== current && !name.includes("."));
  const used = await Promise.all(
    entries.map(async (name) => ({ name, at: (await stat(join(parent, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  used.sort((a, b) => b.at - a.at);
  for (const { name } of used.slice(keptVersions - 1)) await rm(join(parent, name), { recursive: true, force: true });
}
