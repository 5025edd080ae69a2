import type { Job } from "@jobferry/shared/job/types.ts";
import { generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it, vi } from "vitest";
import type { Cluster } from "../clusters/cluster.ts";
import { Clusters } from "../clusters/clusters.ts";
import { Inbox } from "./inbox.ts";
import { Reports, type ReportsOptions } from "./reports.ts";

const uid = hubUid.parse("u-1");
const job = { metadata: { uid, name: "theirs" } } as unknown as Job;

/** What the manager does with reports while the Job is on `good`, in epoch 1. */
function reporting() {
  const clusters = new Clusters(new VirtualClock(), generateKeyPair().publicKey.text);
  const add = (name: string): Cluster =>
    clusters.upsert(parseClusterName(name), { metadata: { name }, spec: { publicKey: "" } });
  const [good, evil] = [add("good"), add("evil")];
  const inbox = new Inbox();
  const refused: string[] = [];
  const options = {
    inbox,
    jobs: { byUid: (wanted: string) => (wanted === uid ? job : undefined), onCluster: () => [] },
    phases: { saw: () => {}, assignmentOf: () => ({ cluster: good.name, epoch: epoch.parse(1) }) },
    outbox: { release: vi.fn() },
    recorder: { record: vi.fn() },
    logger: silentLogger,
    clock: new VirtualClock(),
    transport: { sendDelivery: vi.fn() },
    enqueue: vi.fn(),
    onRefused: (cluster: string, code: string) => refused.push(`${cluster} ${code}`),
  } as unknown as ReportsOptions;
  return { reports: new Reports(options), good, evil, inbox, refused };
}

const status = (number: number, of = 1): Report => ({
  ...{ kind: "status", uid, epoch: epoch.parse(of), seq: number, status: { ready: 0, terminating: 0 } },
});

it.each<[string, Report]>([
  ["a status", status(1, 2_147_483_647)],
  ["a status of this epoch", status(9)],
  ["a withdrawal", { kind: "withdrawn", uid, epoch: epoch.parse(1) }],
  ["a refusal", { kind: "refused", uid, epoch: epoch.parse(1), reason: "Other", message: "" }],
])("another cluster's word does not displace the true one: %s", async (_, forged) => {
  const { reports, good, evil, inbox, refused } = reporting();
  await reports.handle(evil, forged);
  await reports.handle(good, status(3));
  expect(inbox.peek(uid)).toEqual({ status: expect.objectContaining({ cluster: "good", seq: 3 }) });
  await reports.handle(good, { kind: "withdrawn", uid, epoch: epoch.parse(1) });
  await reports.handle(evil, forged);
  expect(inbox.peek(uid)).toMatchObject({ status: { cluster: "good" }, answer: { cluster: "good" } });
  expect(refused).toEqual(["evil report/not-its-job", "evil report/not-its-job"]);
});
