import { Reflector, type ReflectorOptions } from "@jobferry/shared/kube/reflector.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { afterEach, describe, expect, test } from "vitest";
import { type ConfigMap, configMapResource as configMaps } from "../resources.ts";
import type { FlakyCluster } from "./subject.ts";

const PATIENCE = { timeout: 60_000, interval: 20 };

/** What the reflector must survive, whatever the server is. */
export function reflecting(subject: FlakyCluster): void {
  const stops: AbortController[] = [];
  afterEach(() => {
    subject.proxy.restore();
    for (const stop of stops.splice(0)) stop.abort();
  });

  /** A reflector of one namespace through the proxy, and a pen that writes past it. */
  async function reflect(options: Partial<ReflectorOptions<ConfigMap>> = {}) {
    const namespace = await subject.newNamespace();
    const { client, sent } = subject.client();
    const heard: string[] = [];
    const stop = new AbortController();
    stops.push(stop);
    const reflector = new Reflector<ConfigMap>({
      api: client,
      resource: configMaps,
      clock: realClock,
      namespace,
      backoff: { baseMs: 50, maxMs: 1000 },
      // A real namespace gets a ConfigMap with a certificate of its own accord.
      fieldSelector: "metadata.name!=kube-root-ca.crt",
      ...options,
    });
    reflector.addHandler({
      added: ({ metadata }) => heard.push(`+${metadata.name}`),
      updated: (_, { metadata }) => heard.push(`~${metadata.name}`),
      deleted: ({ metadata }) => heard.push(`-${metadata.name}`),
    });
    const write = {
      create: (name: string) => subject.direct.create(configMaps, namespace, { metadata: { name } }),
      change: (name: string, value: string) =>
        subject.direct.patch(configMaps, { namespace, name }, { type: "merge", body: { data: { value } } }),
      remove: (name: string) => subject.direct.delete(configMaps, { namespace, name }),
    };
    const lists = (): number => sent.filter(({ method, code }) => method === "GET" && code === 200).length;
    const watches = (): number => sent.filter(({ method, code }) => method === "WATCH" && code === 200).length;
    const begin = async (): Promise<void> => {
      void reflector.start(stop.signal);
      await reflector.whenSynced();
      await expect.poll(watches, PATIENCE).toBeGreaterThan(0);
    };
    return { reflector, heard, write, begin, lists, watches, namespace };
  }

  /** The copy holds what the server holds, version by version. */
  async function expectSame(reflector: Reflector<ConfigMap>, namespace: string): Promise<void> {
    const versions = (objects: ConfigMap[]) =>
      objects.map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).toSorted();
    const { items } = await subject.direct.list(configMaps, {
      namespace,
      fieldSelector: "metadata.name!=kube-root-ca.crt",
    });
    await expect.poll(() => versions(reflector.list()), PATIENCE).toEqual(versions(items));
  }

  describe("the reflector", () => {
    test("shows what is there and what changes", async () => {
      const { reflector, heard, write, begin, namespace } = await reflect();
      await write.create("a");
      await begin();
      expect(heard).toEqual(["+a"]);
      await write.create("b");
      await write.change("a", "1");
      await write.remove("b");
      await expect.poll(() => heard, PATIENCE).toEqual(["+a", "+b", "~a", "-b"]);
      await expectSame(reflector, namespace);
      expect(reflector.get(namespace, "a")?.data).toEqual({ value: "1" });
    });

    test("resumes a cut watch where it was, without a new list", async () => {
      const { heard, write, begin, lists } = await reflect();
      await begin();
      for (let round = 0; round < 3; round++) {
        await write.create(`before-${round}`);
        await expect.poll(() => heard.at(-1), PATIENCE).toBe(`+before-${round}`);
        subject.proxy.refuse();
        await write.create(`meanwhile-${round}`);
        await write.remove(`before-${round}`);
        subject.proxy.restore();
        await expect.poll(() => heard.at(-1), PATIENCE).toBe(`-before-${round}`);
      }
      expect(heard).toEqual(
        [0, 1, 2].flatMap((round) => [`+before-${round}`, `+meanwhile-${round}`, `-before-${round}`]),
      );
      expect(lists()).toBe(1);
    });

    test("lists anew when the server has forgotten its place (410), and tells what it missed", async () => {
      const { reflector, heard, write, begin, lists, namespace } = await reflect();
      for (const name of ["changed", "gone", "replaced", "same"]) await write.create(name);
      await begin();
      heard.length = 0;
      subject.proxy.refuse();
      await write.change("changed", "1");
      await write.remove("gone");
      await write.remove("replaced");
      await write.create("replaced");
      await write.create("new");
      await subject.forgetHistory();
      subject.proxy.restore();
      await expect.poll(lists, PATIENCE).toBe(2);
      await expectSame(reflector, namespace);
      expect(heard.toSorted()).toEqual(["+new", "+replaced", "-gone", "-replaced", "~changed"].toSorted());
      expect(heard.indexOf("-replaced")).toBeLessThan(heard.indexOf("+replaced"));
    });

    test("survives a restart of the server", async () => {
      const { reflector, write, begin, namespace } = await reflect();
      await write.create("a");
      await begin();
      await subject.restart(async () => {
        await write.change("a", "while it was away");
      });
      await write.create("b");
      await expectSame(reflector, namespace);
      expect(reflector.size).toBe(2);
    });

    test("replaces a watch that has gone silent", { timeout: 200_000 }, async () => {
      const { reflector, heard, write, begin, watches } = await reflect({ watchSeconds: 3, watchIdleMs: 8_000 });
      await begin();
      const other = await reflect();
      await other.write.create("elsewhere");
      const before = reflector.resourceVersion;
      // The sandbox sends its bookmarks once a minute.
      await expect.poll(() => reflector.resourceVersion, { ...PATIENCE, timeout: 90_000 }).not.toBe(before);
      expect(heard).toEqual([]);
      const opened = watches();
      await expect.poll(watches, PATIENCE).toBeGreaterThan(opened);
      subject.proxy.freeze();
      await write.create("unheard");
      await expect.poll(() => heard, PATIENCE).toEqual(["+unheard"]);
    });

    test("keeps up with a slow server", async () => {
      subject.proxy.slowDown(150);
      const { reflector, write, begin, namespace } = await reflect();
      await write.create("a");
      await begin();
      await write.change("a", "1");
      await write.create("b");
      await expectSame(reflector, namespace);
    });

    test("lists a large collection page by page while it changes", async () => {
      const { reflector, heard, write, begin, lists, namespace } = await reflect({ pageSize: 100 });
      const names = Array.from({ length: 2000 }, (_, i) => `cm-${String(i).padStart(4, "0")}`);
      for (let from = 0; from < names.length; from += 50)
        await Promise.all(names.slice(from, from + 50).map((name) => write.create(name)));
      const synced = begin();
      await Promise.all(names.slice(0, 100).map((name) => write.change(name, "1")));
      await Promise.all(names.slice(-100).map((name) => write.remove(name)));
      await synced;
      await expectSame(reflector, namespace);
      expect(lists()).toBeGreaterThanOrEqual(19);
      const added = heard.filter((event) => event.startsWith("+"));
      expect(new Set(added).size).toBe(added.length);
      expect(reflector.size).toBe(1900);
    });
  });
}
