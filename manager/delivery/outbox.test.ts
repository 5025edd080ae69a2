import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { describe, expect, it } from "vitest";
import { anAssignedJob, EAST, epochOf, UID } from "../testing/hub-job.ts";
import { type Desired, Outbox } from "./outbox.ts";

const assignment = { cluster: EAST, epoch: epochOf(2) };
const run: Desired = { desired: "run" };

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
    outbox: new Outbox(transport as ManagerTransport),
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
    outbox.doubt(UID);
    await outbox.deliver(anAssignedJob(), assignment, run);
    outbox.doubtAll();
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

  it("asks for deletion and for a hand-over with the Job's name alone, however large it is", async () => {
    const { outbox, sent } = anOutbox();
    const job = anAssignedJob({ metadata: { annotations: { note: "x".repeat(200_000) } } });
    await outbox.deliver(job, assignment, { desired: "delete", propagationPolicy: "Orphan" });
    await outbox.deliver(job, assignment, { desired: "hand-over" });
    const about = { kind: "assignment", uid: UID, epoch: 2, revision: expect.any(Number) };
    expect(sent).toEqual([
      { ...about, desired: "delete", propagationPolicy: "Orphan" },
      { ...about, desired: "hand-over" },
    ]);
  });
});
