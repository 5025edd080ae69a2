import { hubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { Awaited } from "./awaited.ts";
import type { Cause } from "./causes.ts";

const uid = (text: string) => hubUid.parse(text);

function rig() {
  const clock = new VirtualClock();
  const here = new Set<string>();
  const asked: string[] = [];
  const sent: Report[] = [];
  let reachable = true;
  const awaited = new Awaited({
    clock,
    logger: silentLogger,
    transport: {
      async sendReport(report) {
        if (!reachable) throw new Error("Redis is away");
        sent.push(report);
      },
    },
  });
  const claim = (name: string): Cause => ({
    name,
    async isMended() {
      asked.push(name);
      if (name === "unreadable") throw new Error("not now");
      return here.has(name);
    },
  });
  const appears = (name: string): unknown => here.add(name);
  const reach = (yes: boolean): void => {
    reachable = yes;
  };
  return { clock, awaited, asked, sent, appears, reach, claim };
}

it("tells of every Job that lacked an object once it appears, in one report", async () => {
  const { clock, awaited, sent, appears, claim } = rig();
  for (const job of ["a", "b"]) awaited.note(uid(job), [claim("data")]);
  awaited.note(uid("c"), [claim("other")]);
  await clock.advance(10_000);
  expect(sent).toEqual([]);
  appears("data");
  await clock.advance(2_000);
  expect(sent).toEqual([{ kind: "available", jobs: ["a", "b"] }]);
  await clock.advance(60_000);
  expect(sent).toHaveLength(1);
});

it("waits until all is there that a Job lacks", async () => {
  const { clock, awaited, sent, appears, claim } = rig();
  awaited.note(uid("a"), [claim("data"), claim("more")]);
  appears("data");
  await clock.advance(10_000);
  expect(sent).toEqual([]);
  appears("more");
  await clock.advance(2_000);
  expect(sent).toEqual([{ kind: "available", jobs: ["a"] }]);
});

it("tells again when the report could not be sent", async () => {
  const { clock, awaited, sent, appears, reach, claim } = rig();
  reach(false);
  awaited.note(uid("a"), [claim("data")]);
  appears("data");
  await clock.advance(4_000);
  reach(true);
  await clock.advance(2_000);
  expect(sent).toEqual([{ kind: "available", jobs: ["a"] }]);
});

it("looks for a few objects in a round, and for each in its turn", async () => {
  const { clock, awaited, asked, claim } = rig();
  for (let i = 0; i < 50; i++) awaited.note(uid(`u${i}`), [claim(`c${String(i).padStart(2, "0")}`)]);
  await clock.advance(2_000);
  expect(asked).toHaveLength(20);
  await clock.advance(4_000);
  expect(new Set(asked).size).toBe(50);
});

it("asks nobody when nothing is missing, was forgotten or is long ago", async () => {
  const { clock, awaited, asked, claim } = rig();
  await clock.advance(60_000);
  expect(asked).toEqual([]);
  awaited.note(uid("a"), [claim("data")]);
  awaited.forget(uid("a"));
  await clock.advance(10_000);
  expect(asked).toEqual([]);
  awaited.note(uid("a"), [claim("data")]);
  await clock.advance(20 * 60_000);
  const soFar = asked.length;
  await clock.advance(60_000);
  expect(asked).toHaveLength(soFar);
});

it("remembers a bounded number of Jobs", async () => {
  const { clock, awaited, sent, appears, claim } = rig();
  for (let i = 0; i < 5_000; i++) awaited.note(uid(`u${i}`), [claim("data")]);
  appears("data");
  await clock.advance(2_000);
  const jobs = sent.flatMap((report) => (report.kind === "available" ? report.jobs : []));
  expect(jobs).toHaveLength(4096);
  expect(jobs.at(-1)).toBe("u4999");
});

it("looks less often at what lasts, and still sees its end within a tenth of the time it lasted, or half a minute", async () => {
  const { clock, awaited, asked, sent, appears, claim } = rig();
  awaited.note(uid("a"), [claim("data")]);
  await clock.advance(60_000);
  expect(asked.length).toBeGreaterThan(10);
  await clock.advance(9 * 60_000);
  const soFar = asked.length;
  await clock.advance(3 * 60_000);
  expect(asked.length - soFar).toBeLessThan(8);
  appears("data");
  await clock.advance(33_000);
  expect(sent).toHaveLength(1);
});

it("is not held up by a cause that cannot be looked at", async () => {
  const { clock, awaited, sent, appears, claim } = rig();
  awaited.note(uid("a"), [claim("unreadable")]);
  awaited.note(uid("b"), [claim("data")]);
  appears("data");
  await clock.advance(2_000);
  expect(sent).toEqual([{ kind: "available", jobs: ["b"] }]);
});
