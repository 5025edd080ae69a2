import type { Job } from "@jobferry/shared/job/types.ts";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, hubUid, parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { ListedReference } from "@jobferry/shared/protocol/references.ts";
import { joinPieces } from "@jobferry/shared/references/contents.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { expect, it } from "vitest";
import { Asks } from "./asks.ts";
import type { Kept } from "./hub-references.ts";

const EAST = parseClusterName("east");
const assignment = { cluster: EAST, epoch: epoch.parse(1), queue: "q" };
const reference: ListedReference = { kind: "Secret", name: "login", hash: "ab".repeat(32) };
const ask = { uid: hubUid.parse("u"), epoch: assignment.epoch, references: [reference] };
const job: Job = { metadata: { name: "j" }, spec: { template: { spec: { containers: [] } } } };

function rig(kept: Kept, waiting = 0) {
  const sent: Delivery[] = [];
  const refused: string[] = [];
  const changed: string[] = [];
  const asks = new Asks({
    references: { contents: async () => kept },
    transport: {
      sendDelivery: async (_, delivery) => void sent.push(delivery),
      deliveriesWaiting: async () => waiting,
    },
    logger: silentLogger,
    changed: ({ metadata }) => changed.push(metadata.name ?? ""),
    unavailable: (_, __, problem) => changed.push(problem),
    onRefused: (cluster, code) => refused.push(`${cluster} ${code}`),
  });
  return { asks, sent, refused, changed };
}

it("sends contents to the cluster that has the Job, large ones in pieces", async () => {
  const text = JSON.stringify({ data: { a: "x".repeat(1_000_000) } });
  const { asks, sent, refused } = rig({ contents: text });
  await asks.answer(job, assignment, ask);
  const pieces = sent.map((delivery) => (delivery.kind === "contents" ? delivery : undefined));
  expect(pieces.map((one) => [one?.piece, one?.pieces])).toEqual([
    [1, 3],
    [2, 3],
    [3, 3],
  ]);
  expect(joinPieces(pieces.map((one) => one?.text ?? ""))).toBe(text);
  expect(refused).toEqual([]);
});

it("refuses and counts what does not travel with the Job", async () => {
  const { asks, sent, refused } = rig("not-listed");
  await asks.answer(job, assignment, ask);
  expect([sent, refused]).toEqual([[], ["east report/not-listed"]]);
});

it("delivers the Job anew when the hub has other contents by now", async () => {
  const { asks, sent, changed, refused } = rig("changed");
  await asks.answer(job, assignment, ask);
  expect([sent, changed, refused]).toEqual([[], ["j"], []]);
});

it("takes the Job back when the hub has nothing that may be read", async () => {
  const { asks, sent, changed, refused } = rig({ problem: "Secret team/login may not be read" });
  await asks.answer(job, assignment, ask);
  expect([sent, changed, refused]).toEqual([[], ["Secret team/login may not be read"], []]);
});

it("sends nothing to a cluster that does not take what it was sent", async () => {
  const { asks, sent } = rig({ contents: "{}" }, 65);
  await asks.answer(job, assignment, ask);
  expect(sent).toEqual([]);
});
