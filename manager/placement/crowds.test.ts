import type { Job } from "@jobferry/shared/job/types.ts";
import { CLUSTER_SELECTOR, PRIORITY } from "@jobferry/shared/protocol/marks.ts";
import { type HubUid, hubUid } from "@jobferry/shared/protocol/names.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { Clusters } from "../clusters/clusters.ts";
import { readWishes, type Wishes } from "../hub/wishes.ts";
import { aHubJob, EAST, phases } from "../testing/hub-job.ts";
import { Ledger } from "./ledger.ts";
import { Placement } from "./placement.ts";
import { Queues } from "./queues.ts";

const MOST = 3;
const uid = (name: string): HubUid => hubUid.parse(`u-${name}`);
const wishesOf = (job: Job): Wishes => (readWishes(job) as { wishes: Wishes }).wishes;
/** Jobs of different kinds select different clusters, none of which exists. */
const aJob = (name: string, kind: string, { namespace = "flood", priority = 0 } = {}): Job =>
  aHubJob({
    metadata: {
      ...{ uid: uid(name), name, namespace },
      annotations: { [CLUSTER_SELECTOR]: `kind=${kind}`, [PRIORITY]: String(priority) },
    },
  });

/** Does what the reconciler does: asks for everything that is to be asked for, until nothing is. */
function aPlacement() {
  const clock = new VirtualClock();
  const clusters = new Clusters(clock, "manager-key");
  const metadata = { name: EAST, uid: "c", resourceVersion: "1", labels: { kind: "east" } };
  clusters.upsert(EAST, { metadata, spec: { publicKey: "" } }).heard();
  const ledger = new Ledger(clusters);
  const queues = new Queues({ queueNamed: () => undefined, labelsOfNamespace: () => undefined, ledger });
  const asked = new Set<HubUid>();
  const jobs = new Map<HubUid, Job>();
  const reasons = new Map<HubUid, string>();
  const placed: HubUid[] = [];
  const options = { clock, clusters, queues, ledger, phases, classesPerNamespace: MOST };
  const placement = new Placement({ ...options, enqueue: (one) => void asked.add(one) });
  const consider = (one: HubUid): void => {
    const job = jobs.get(one);
    if (job === undefined) return;
    const decision = placement.consider(job, wishesOf(job));
    if ("reason" in decision) reasons.set(one, decision.reason);
    if (!("cluster" in decision)) return;
    placed.push(one);
    jobs.delete(one);
    placement.leave(one);
  };
  const settle = (): void => {
    for (const one of asked) {
      asked.delete(one);
      consider(one);
    }
  };
  const submit = (job: Job): void => {
    jobs.set(job.metadata.uid as HubUid, job);
    consider(job.metadata.uid as HubUid);
    settle();
  };
  const remove = (name: string): void => {
    jobs.delete(uid(name));
    placement.leave(uid(name));
    settle();
  };
  return { placement, submit, remove, settle, clock, placed, reasonOf: (name: string) => reasons.get(uid(name)) ?? "" };
}

const CROWDED = /^waiting: namespace flood has 3 kinds of waiting Jobs/;

it("no namespace makes more kinds of waiting Jobs than allowed; the others of it are told, and all count as waiting", () => {
  const { placement, submit, reasonOf } = aPlacement();
  for (let i = 0; i < 10; i++) submit(aJob(`j${i}`, `k${i}`));
  expect(reasonOf("j2")).toMatch(/selector does not match/);
  for (let i = MOST; i < 10; i++) expect(reasonOf(`j${i}`)).toMatch(CROWDED);
  expect(placement.waiting).toBe(10);
  expect(placement.waitingByQueue()).toEqual(new Map([["default", 10]]));
});

it("a Job of a kind that is there already joins it, and Jobs of other namespaces are not concerned", () => {
  const { submit, reasonOf, placed } = aPlacement();
  for (let i = 0; i < 10; i++) submit(aJob(`j${i}`, `k${i}`));
  submit(aJob("same", "k1"));
  expect(reasonOf("same")).toMatch(/selector does not match/);
  submit(aJob("other", "k99", { namespace: "calm" }));
  expect(reasonOf("other")).toMatch(/selector does not match/);
  submit(aJob("fits", "east", { namespace: "calm" }));
  expect(placed).toEqual([uid("fits")]);
});

it("as kinds go, others get in: the most important first, then the oldest; none is lost, and none overtakes", () => {
  const { submit, remove, reasonOf, placed } = aPlacement();
  for (let i = 0; i < MOST; i++) submit(aJob(`j${i}`, `k${i}`));
  submit(aJob("a", "east"));
  submit(aJob("b", "kb"));
  submit(aJob("urgent", "ku", { priority: 9 }));
  expect(placed).toEqual([]);
  remove("j0");
  expect(reasonOf("urgent")).toMatch(/selector does not match/);
  expect(placed).toEqual([]);
  // It goes at once, and so leaves its place to the next.
  remove("j1");
  expect(placed).toEqual([uid("a")]);
  expect(reasonOf("b")).toMatch(/selector does not match/);
  submit(aJob("late", "east"));
  expect(reasonOf("late")).toMatch(CROWDED);
  for (const name of ["j2", "urgent", "b"]) remove(name);
  expect(placed).toEqual([uid("a"), uid("late")]);
});

it("one that leaves while it waits to get in, or is edited, keeps nobody out", () => {
  const { submit, remove, reasonOf, placed } = aPlacement();
  for (let i = 0; i < MOST; i++) submit(aJob(`j${i}`, `k${i}`));
  for (const name of ["a", "b", "c"]) submit(aJob(name, `k-${name}`));
  remove("a");
  // Edited, so that it is of a kind that is there.
  submit(aJob("b", "k1"));
  expect(reasonOf("b")).toMatch(/selector does not match/);
  expect(reasonOf("c")).toMatch(CROWDED);
  // The last of its kind becomes another one, and is older than those that wait to get in.
  submit(aJob("j0", "east"));
  expect(placed).toEqual([uid("j0")]);
  expect(reasonOf("c")).toMatch(/selector does not match/);
});
