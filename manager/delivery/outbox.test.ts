import type { Job } from "@jobferry/shared/job/types.ts";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { PRIORITY } from "@jobferry/shared/protocol/marks.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { describe, expect, it } from "vitest";
import { anAssignedJob, anAssignment, epochOf, UID } from "../testing/hub-job.ts";
import { type Desired, Outbox } from "./outbox.ts";

const assignment = anAssignment();
const run: Desired = { desired: "run" };

const receiver = { revisionOf: (revision: number) => revision + 100, aheadMs: 3_600_000 };

function anOutbox(): { outbox: Outbox; sent: Delivery[]; fail(error: Error): void } {
  const sent: Delivery[] = [];
  let failure: Error | undefined;
  const transport: Pick<ManagerTransport, "sendDelivery"> = {
    async sendDelivery(_, delivery) {
      const error = failure;
      failure = undefined;
      if (error !== undefined) throw error;
      sent.push(delivery);
    },
  };
  return {
    outbox: new Outbox({ transport, clusters: { get: () => receiver } }),
    sent,
    fail(error) {
      failure = error;
    },
  };
}

describe("Outbox", () => {
  it("sends the same once, and again when it may not have arrived", async () => {
    const { outbox, sent } = anOutbox();
    for (let i = 0; i < 3; i++) await outbox.deliver(anAssignedJob(), assignment, run);
    expect(sent).toHaveLength(1);
    outbox.forget(UID);
    await outbox.deliver(anAssignedJob(), assignment, run);
    outbox.forgetAll();
    await outbox.deliver(anAssignedJob(), assignment, run);
    expect(sent).toHaveLength(3);
  });

  it("takes nothing for sent that failed", async () => {
    const { outbox, sent, fail } = anOutbox();
    fail(new Error("Redis is away"));
    await expect(outbox.deliver(anAssignedJob(), assignment, run)).rejects.toThrow("away");
    await outbox.deliver(anAssignedJob(), assignment, run);
    expect(sent).toHaveLength(1);
  });

  it.each<[string, Parameters<Outbox["deliver"]>]>([
    ["generation", [anAssignedJob({ metadata: { generation: 2 } }), assignment, run]],
    ["epoch", [anAssignedJob(), { ...assignment, epoch: epochOf(3) }, run]],
    ["wish", [anAssignedJob(), assignment, { desired: "hand-over" }]],
    ["time to stop", [anAssignedJob(), { ...assignment, stopAfterSeconds: 600 }, run]],
  ])("sends when the %s changed", async (_, args) => {
    const { outbox, sent } = anOutbox();
    await outbox.deliver(anAssignedJob(), assignment, run);
    await outbox.deliver(...args);
    expect(sent).toHaveLength(2);
  });

  it("tells an agent when to stop if that is stored with the assignment, and else nothing of it", async () => {
    const { outbox, sent } = anOutbox();
    await outbox.deliver(anAssignedJob(), { ...assignment, stopAfterSeconds: 600 }, run);
    await outbox.deliver(anAssignedJob(), assignment, run);
    expect(sent[0]).toMatchObject({ desired: "run", stopAfterSeconds: 600 });
    expect(sent[1]).not.toHaveProperty("stopAfterSeconds");
  });

  it("carries the status over in the times of the worker's clock", async () => {
    const { outbox, sent } = anOutbox();
    await outbox.deliver(anAssignedJob({ status: { startTime: "2026-01-01T00:00:00Z", failed: 1 } }), assignment, run);
    expect(sent).toMatchObject([{ carry: { startTime: "2026-01-01T01:00:00Z", failed: 1 } }]);
  });

  it("lets ends go first, then the more important Jobs", async () => {
    const priorities: (number | undefined)[] = [];
    const transport = { sendDelivery: async (...args: unknown[]) => void priorities.push(args[2] as number) };
    const priorityOf = (job: Job): number => Number(job.metadata.annotations?.[PRIORITY] ?? 0);
    const outbox = new Outbox({ transport, clusters: { get: () => receiver }, priorityOf });
    const important = anAssignedJob({ metadata: { annotations: { [PRIORITY]: "10" } } });
    await outbox.deliver(anAssignedJob(), assignment, run);
    await outbox.deliver(important, assignment, { desired: "hand-over" });
    await outbox.deliver(important, assignment, run);
    const [ordinary = 0, end, urgent = 0] = priorities;
    expect(end).toBeUndefined();
    expect(urgent).toBeLessThan(ordinary);
    expect(urgent).toBeGreaterThan(0);
  });

  it("delivers no more pods at a time than the Job was let in with", async () => {
    const { outbox, sent } = anOutbox();
    const job = anAssignedJob({ spec: { parallelism: 6 } });
    await outbox.deliver(job, { ...assignment, admitted: 2 }, run);
    await outbox.deliver(job, { ...assignment, admitted: 6 }, run);
    await outbox.deliver(job, { ...assignment, admitted: 9 }, run);
    const delivered = sent.map((one) => one.kind === "assignment" && one.desired === "run" && one.job.spec.parallelism);
    expect(delivered).toEqual([2, 6, 6]);
  });

  it("asks for deletion and for a hand-over with the Job's name alone, however large it is", async () => {
    const { outbox, sent } = anOutbox();
    const job = anAssignedJob({ metadata: { annotations: { note: "x".repeat(200_000) } } });
    await outbox.deliver(job, assignment, { desired: "delete", propagationPolicy: "Orphan" });
    await outbox.deliver(job, assignment, { desired: "hand-over" });
    const about = { kind: "assignment", uid: UID, epoch: 2, revision: 107 };
    expect(sent).toEqual([
      { ...about, desired: "delete", propagationPolicy: "Orphan" },
      { ...about, desired: "hand-over" },
    ]);
  });
});
