import type { Job } from "@jobferry/shared/job/types.ts";
import { PRIORITY } from "@jobferry/shared/protocol/marks.ts";
import { type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { readWishes, type Wishes } from "../hub/wishes.ts";
import { aHubJob, anAssignedJob, EAST, phases, UID, WEST } from "../testing/hub-job.ts";
import { Ledger } from "./ledger.ts";
import { Placement } from "./placement.ts";
import { Queues } from "./queues.ts";

const uid = (number: number): HubUid => hubUid.parse(`u-${number}`);
const aJob = (number: number, priority = 0): Job =>
  aHubJob({ metadata: { uid: uid(number), name: `j${number}`, annotations: { [PRIORITY]: String(priority) } } });
const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;

/** East takes `maxJobs`, west is cordoned. */
function aPlacement(maxJobs: number) {
  const clock = new VirtualClock();
  const clusters = new Clusters(clock, "manager-key");
  const metadata = { uid: "c", resourceVersion: "1" };
  clusters.upsert(EAST, { metadata: { ...metadata, name: EAST }, spec: { publicKey: "", maxJobs } }).heard();
  clusters.upsert(WEST, { metadata: { ...metadata, name: WEST }, spec: { publicKey: "", cordoned: true } }).heard();
  const ledger = new Ledger(clusters);
  const queues = new Queues({ queueNamed: () => undefined, labelsOfNamespace: () => undefined, ledger });
  const asked: HubUid[] = [];
  const placement = new Placement({ clock, clusters, queues, ledger, phases, enqueue: (one) => asked.push(one) });
  const consider = (job: Job) => placement.consider(job, wishesOf(job));
  return { placement, consider, ledger, clock, asked };
}

it("answers with a cluster, and gives the same answer until it is stored", () => {
  const { consider, ledger } = aPlacement(2);
  const wanted = { cluster: EAST, queue: "default" };
  for (let i = 0; i < 2; i++) expect(consider(aJob(1))).toEqual(wanted);
  expect(ledger.runningOn(EAST)).toBe(1);
});

it("says why a Job waits, naming each cluster", () => {
  const { consider } = aPlacement(0);
  expect(consider(aJob(1))).toMatchObject({
    reason: "waiting: east: runs its maximum of 0 Jobs; west: cordoned",
    never: false,
  });
});

it("room that is given back goes to the most important Job that waits, and that one is asked for", () => {
  const { placement, consider, asked } = aPlacement(1);
  consider(aJob(1));
  consider(aJob(2));
  consider(aJob(3, 10));
  asked.length = 0;
  placement.notStored(uid(1));
  expect(asked[0]).toBe(uid(3));
  expect(consider(aJob(3, 10))).toMatchObject({ cluster: EAST });
  expect(consider(aJob(2))).not.toHaveProperty("cluster");
});

it("the books follow what the hub stores: assigned, finished, gone", () => {
  const { placement, ledger } = aPlacement(1);
  placement.observe(UID, anAssignedJob());
  expect(ledger.runningOn(EAST)).toBe(1);
  placement.observe(UID, anAssignedJob());
  expect(ledger.runningOn(EAST)).toBe(1);
  placement.observe(UID, undefined);
  expect(ledger.runningOn(EAST)).toBe(0);
});

it("a refusal counts for its Job alone, is said in its own words, and ends by itself", async () => {
  const { consider, ledger, clock } = aPlacement(9);
  ledger.refuse(uid(1), EAST, "QuotaExceeded", "QuotaExceeded: full", clock.monotonic());
  expect(consider(aJob(1))).toMatchObject({
    reason: "waiting: east: refused it: QuotaExceeded: full; west: cordoned",
    againMs: 10_000,
  });
  expect(consider(aJob(2))).toMatchObject({ cluster: EAST });
  await clock.advance(10_000);
  expect(consider(aJob(1))).toMatchObject({ cluster: EAST });
});

it("knows whether a Job could go elsewhere", () => {
  const { placement } = aPlacement(9);
  const job = aJob(1);
  expect(placement.fitsElsewhere(job, wishesOf(job), EAST)).toBe(false);
  expect(placement.fitsElsewhere(job, wishesOf(job), WEST)).toBe(true);
});
