/** Where the contents of a Secret that travels are not to be found. Restarts manager and agent, so it has the fleet to itself. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { secrets } from "@jobferry/shared/kube/resources.ts";
import { expect, it } from "vitest";
import { guardedDirectory } from "../../harness/guarded-process.ts";
import { type FleetNamespace, forever } from "./fleet-namespace.ts";
import type { RealFleet } from "./real-fleet.ts";
import { allowSecrets, copiesOn, metricsOf, onEast, sealed } from "./reference-fleet.ts";

const PLANTED = "planted-secret-8f1c2e7a";
const FORMS = [PLANTED, Buffer.from(PLANTED).toString("base64"), Buffer.from(PLANTED).toString("hex")];
/** In clear everywhere that a Job is: what does not show it was not searched well. */
const NAMESPACE = "planted-namespace-5d2b";

export function referenceSecrecy(fleet: RealFleet): void {
  it("contents are in no log, event, annotation, metric or heap, and Redis neither hears nor keeps them", async () => {
    const snapshots = guardedDirectory("heaps");
    fleet.attach({ stop: () => snapshots.remove() });
    const flags = ["--heapsnapshot-signal=SIGUSR2", `--diagnostic-dir=${snapshots.path}`];
    for (const name of ["manager", "east"]) await fleet.kill(name);
    fleet.startManager("manager", flags);
    fleet.startAgent("east", flags);
    const at = await fleet.namespace(NAMESPACE);
    await allowSecrets(fleet, at);
    const heard: string[] = [];
    const monitor = await fleet.redis.monitor();
    monitor.on("monitor", (_time: string, args: string[]) => heard.push(args.join(" ")));
    const data = { k: FORMS[1] ?? "" };
    await fleet.hub.api.create(secrets, at.name, { metadata: { name: "login" }, data });
    const envFrom = [{ secretRef: { name: "login" } }];
    await at.submit("j", {
      ...onEast,
      labels: sealed,
      pod: { ...forever, spec: { containers: [{ name: "main", image: "none", envFrom }] } },
    });
    await at.untilActive("j", 1);
    expect((await copiesOn(at, "east", secrets)).map((copy) => copy.data)).toEqual([data]);
    monitor.disconnect();
    const disk = await redisFiles(fleet);
    const { mirror } = await at.mirror("j");
    const heaps = {
      manager: await heapOf(fleet, "manager", snapshots.path),
      east: await heapOf(fleet, "east", snapshots.path),
    };
    for (const [name, heap] of Object.entries(heaps)) expect(heap.includes(NAMESPACE), `heap of ${name}`).toBe(true);
    expect(heard.join("\n")).toContain("jobferry-east");
    expect(disk).toContain("jobferry-east");
    const places = {
      "what Redis heard": heard.join("\n"),
      "what Redis has on disk": disk,
      "the manager's log": await fleet.log("manager"),
      "the agent's log": await fleet.log("east"),
      "the hub Job and its events": JSON.stringify([await at.job("j"), await at.events("j")]),
      "the mirror": JSON.stringify(mirror),
      "the manager's metrics": await metricsOf(fleet, "manager"),
      "the agent's metrics": await metricsOf(fleet, "east"),
      "the manager's heap": heaps.manager,
      "the agent's heap": heaps.east,
    };
    for (const [place, text] of Object.entries(places))
      for (const form of FORMS) expect(text.includes(form), `${form} in ${place}`).toBe(false);
    await at.delete("j");
    await noCopyIsLeft(at);
  });
}

const noCopyIsLeft = (at: FleetNamespace) =>
  at.until("no copy is left", async () => (await copiesOn(at, "east", secrets)).length === 0);

/** Its RDB dump, uncompressed, and its append-only files. */
async function redisFiles({ redis }: RealFleet): Promise<string> {
  const [, folder = ""] = (await redis.config("GET", "dir")) as string[];
  await redis.config("SET", "rdbcompression", "no");
  await redis.save();
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), "latin1"));
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringMatching(/\.rdb$/)]));
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringMatching(/\.aof$/)]));
  return (await Promise.all(texts)).join("\n");
}

/** All strings that live in the process, after a garbage collection. */
async function heapOf(fleet: RealFleet, name: string, folder: string): Promise<string> {
  const { pid } = fleet.process(name);
  const known = new Set(await readdir(folder));
  fleet.process(name).kill("SIGUSR2");
  let text = "";
  await fleet.until(`process ${pid} has written its heap`, async () => {
    const file = (await readdir(folder)).find((one) => !known.has(one));
    text = file === undefined ? "" : await readFile(join(folder, file), "latin1");
    return text.trimEnd().endsWith("]}");
  });
  return text;
}
