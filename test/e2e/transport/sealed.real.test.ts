/** A reader of Redis, live or of its files, finds nothing of a Job: neither as it is, nor packed, nor in base64. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Fleet, startFleet, until } from "./fleet.ts";

const east = parseClusterName("east");
const PLANTED = "planted";
const uid = hubUid.parse(`u-${PLANTED}-uid`);

const delivery = (padding: number): Delivery => ({
  kind: "assignment",
  uid,
  epoch: epoch.parse(1),
  generation: 1,
  revision: 1,
  namespace: `${PLANTED}-namespace`,
  name: `${PLANTED}-name`,
  desired: "run",
  job: {
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: `${PLANTED}-container`,
              image: `${PLANTED}-image`,
              command: ["sh", "-c", `${PLANTED} command`],
              env: [{ name: "TOKEN", value: `${PLANTED}-secret` }],
            },
          ],
        },
      },
    },
    labels: { [`${PLANTED}-label`]: `${PLANTED}-value` },
    annotations: { note: `${PLANTED} ${"annotation ".repeat(padding)}` },
  },
});

const report = (padding: number): Report => ({
  kind: "status",
  uid,
  epoch: epoch.parse(1),
  seq: 1,
  status: {
    conditions: [{ type: "Failed", status: "True", message: `${PLANTED} ${"message ".repeat(padding)}` }],
  },
});

const GZIP = 0x1f8b;
function unpacked(bytes: Buffer): string {
  try {
    return gunzipSync(bytes).toString("latin1");
  } catch {
    return "";
  }
}

/** What somebody who looks hard reads in these bytes: the bytes, what they are as base64, and that unpacked. */
function* readings(bytes: Buffer): Generator<string> {
  const text = bytes.toString("latin1");
  yield text;
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{24,}/g))
    for (let start = 0; start < 4; start++) {
      const decoded = Buffer.from(run.slice(start), "base64url");
      yield decoded.toString("latin1");
      if (decoded.readUInt16BE() === GZIP) yield unpacked(decoded);
    }
}

function finds(word: string, bytes: Buffer): boolean {
  for (const reading of readings(bytes)) if (reading.includes(word)) return true;
  return false;
}

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet([east]);
  // Compressed files would hide what is looked for.
  await fleet.admin.config("SET", "rdbcompression", "no");
});
afterAll(() => fleet.stop());

async function filesOf(directory: string): Promise<Buffer[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => readFile(join(parentPath, name))),
  );
}

it("neither in what is sent to Redis, nor in its keys, nor in its files", async ({ skip }) => {
  const [, directory = ""] = (await fleet.admin.config("GET", "dir")) as string[];
  const seen: string[] = [];
  const monitor = await fleet.admin.monitor();
  monitor.on("monitor", (_: string, args: string[]) => seen.push(args.join(" ")));

  const [manager, agent] = [await fleet.manager(), await fleet.agent(east)];
  const [arrivedReports, arrivedDeliveries]: [Report[], Delivery[]] = [[], []];
  const payloads = [0, 3_000];
  for (const padding of payloads) {
    await manager.transport.sendDelivery(east, delivery(padding));
    await agent.transport.sendReport(report(padding));
  }
  const waiting = await fleet.admin.keys("*");
  const dumps = await Promise.all(waiting.map((key) => fleet.admin.dumpBuffer(key)));
  await fleet.admin.save();
  const files = await filesOf(directory).catch(() => skip("the folder of this Redis cannot be read here"));

  manager.transport.onReport(east, async (one) => void arrivedReports.push(one));
  agent.transport.onDelivery(async (one) => void arrivedDeliveries.push(one));
  await until(() => arrivedReports.length === 2 && arrivedDeliveries.length === 2);
  expect(arrivedReports).toEqual(expect.arrayContaining(payloads.map(report)));
  expect(arrivedDeliveries).toEqual(expect.arrayContaining(payloads.map(delivery)));

  const everything = {
    sent: Buffer.from(seen.join("\n")),
    keys: Buffer.concat(dumps.map((dump) => dump ?? Buffer.alloc(0))),
    files: Buffer.concat(files),
  };
  for (const [where, bytes] of Object.entries(everything)) {
    // There is something to look at: both boxes are in it, with a large message each.
    expect(
      bytes.toString("latin1").match(/jobferry\/2 (delivery|report) east (plain|gzip)/g)?.length,
      where,
    ).toBeGreaterThan(3);
    for (const word of [PLANTED, "annotation annotation", "message message", "TOKEN"])
      expect(finds(word, bytes), `${word} in what is ${where}`).toBe(false);
  }
  monitor.disconnect();
});

it("and this test would find it", async () => {
  const payload = JSON.stringify(delivery(5_000));
  const packed = gzipSync(payload).toString("base64url");
  const ways = [payload, Buffer.from(payload).toString("base64"), packed, `jobferry/1 delivery east gzip\n${packed}`];
  for (const [index, text] of ways.entries()) {
    await fleet.admin.set(`way-${index}`, text);
    expect(finds(PLANTED, (await fleet.admin.dumpBuffer(`way-${index}`)) ?? Buffer.alloc(0)), `way ${index}`).toBe(
      true,
    );
  }
});
