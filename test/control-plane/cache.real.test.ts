import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cached, hashOf } from "./cache.ts";
import { findGo, MissingToolError } from "./go.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "jobferry-cache-"));
  vi.stubEnv("XDG_CACHE_HOME", home);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

const kindFolder = () => join(home, "jobferry", "thing");
const entry = (
  version: string,
  fill: (directory: string) => Promise<void>,
  waiting: (pid: number) => void = () => {},
) => cached({ kind: "thing", version, waiting, fill });
const write = (text: string) => (directory: string) => writeFile(join(directory, "file"), text);

describe("the cache", () => {
  it("fills an entry once, even when several ask at the same time", async () => {
    const fill = vi.fn(write("made"));
    const paths = await Promise.all([entry("v1", fill), entry("v1", fill), entry("v1", fill)]);
    expect(fill).toHaveBeenCalledTimes(1);
    expect(new Set(paths).size).toBe(1);
    expect(await readFile(join(paths[0] ?? "", "file"), "utf8")).toBe("made");
  });

  it("leaves nothing of a failed attempt, and tries again", async () => {
    const broken = async (directory: string): Promise<void> => {
      await write("half")(directory);
      throw new Error("no disk");
    };
    await expect(entry("v1", broken)).rejects.toThrow("no disk");
    expect(await readdir(kindFolder())).toEqual([]);
    expect(await readFile(join(await entry("v1", write("whole")), "file"), "utf8")).toBe("whole");
  });

  it("takes over the lock of a process that has died", async () => {
    const child = spawn("true");
    await once(child, "exit");
    await entry("other", write("x"));
    await writeFile(join(kindFolder(), "v1.lock"), String(child.pid));
    expect(await readFile(join(await entry("v1", write("made")), "file"), "utf8")).toBe("made");
  });

  it("says whom it waits for", async () => {
    const child = spawn("sleep", ["60"]);
    await entry("other", write("x"));
    await writeFile(join(kindFolder(), "v1.lock"), String(child.pid));
    const told = new Promise<number>((resolve) => {
      void entry("v1", write("made"), resolve).catch(() => {});
    });
    expect(await told).toBe(child.pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    await vi.waitUntil(async () => (await readdir(kindFolder())).includes("v1"), { timeout: 60_000 });
  });

  it("keeps the three versions used last", async () => {
    for (const version of ["v1", "v2", "v3", "v4"]) await entry(version, write(version));
    expect((await readdir(kindFolder())).sort()).toEqual(["v2", "v3", "v4"]);
  });

  it("names contents, not files", async () => {
    const [one, two] = [join(home, "one"), join(home, "two")];
    await writeFile(one, "ab");
    await writeFile(two, "ab");
    expect(await hashOf([one])).toBe(await hashOf([two]));
    expect(await hashOf([one], "flag")).not.toBe(await hashOf([one]));
  });
});

describe("Go", () => {
  const pretend = async (version: string): Promise<void> => {
    await writeFile(join(home, "go"), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
    vi.stubEnv("PATH", `${home}:/usr/bin:/bin`);
  };

  it("is asked for in one sentence when it is missing", async () => {
    vi.stubEnv("PATH", home);
    await expect(findGo(() => {})).rejects.toThrow(MissingToolError);
    await expect(findGo(() => {})).rejects.toThrow(/^Go is missing.*install Go 1\.26 or later.*KUBEBUILDER_ASSETS/);
  });

  it("is refused when it cannot fetch a newer toolchain", async () => {
    await pretend("go1.19.8");
    await expect(findGo(() => {})).rejects.toThrow(/^Go 1\.19\.8 is too old/);
  });

  it("fetches the toolchain it needs when it can, and says so", async () => {
    await pretend("go1.22.1");
    const said: string[] = [];
    await findGo((line) => said.push(line));
    expect(said).toEqual(["Go 1.22.1 is older than 1.26: it will fetch that toolchain first"]);
  });

  it("tells the end of Go's own output when it fails", async () => {
    const script = '#!/bin/sh\n[ "$1" = env ] && echo go1.26.1 && exit\necho "main.go:3: undefined: x" >&2\nexit 1\n';
    await writeFile(join(home, "go"), script, { mode: 0o755 });
    vi.stubEnv("PATH", `${home}:/usr/bin:/bin`);
    const go = await findGo(() => {});
    await expect(go.run(home, ["build"], "test")).rejects.toThrow("main.go:3: undefined: x");
  });
});
