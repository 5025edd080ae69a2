import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import type { ManagerTransport } from "@jobferry/shared/queue/transport.ts";
import { describe, expect, it } from "vitest";
import { anAssignedJob, EAST, epochOf, UID } from "../testing/hub-job.ts";
import { type Desired, Outbox } from "./outbox.ts";

const assignment = { cluster: EAST, epoch: epochOf(2) };
const run: Desired = { desired: "run", onClusterLost: "Redispatch" };

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
    ["policy", [anAssignedJob(), assignment, { ...run, onClusterLost: "Wait" }]],
  ])("sends when the %s changed", async (_, args) => {
    const { outbox, sent } = anOutbox();
    await outbox.deliver(anAssignedJob(), assignment, run);
    await outbox.deliver(...args);
    expect(sent).toHaveLength(2);
  });

  it("tells a StopThenRedispatch Job's agent when to stop, and no other's", async () => {
    const { outbox, sent } = anOutbox();
    const stopping = { ...assignment, stopAfterSeconds: 600 };
    await outbox.deliver(anAssignedJob(), stopping, { ...run, onClusterLost: "StopThenRedispatch" });
    await outbox.deliver(anAssignedJob(), stopping, run);
    expect(sent[0]).toMatchObject({ desired: "run", stopAfterSeconds: 600 });
    expect(sent[1]).not.toHaveProperty("stopAfterSeconds");
  });

  it("asks for deletion with the policy, and for a hand-over without one", async () => {
    const { outbox, sent } = anOutbox();
    await outbox.deliver(anAssignedJob(), assignment, { desired: "delete", propagationPolicy: "Orphan" });
    await outbox.deliver(anAssignedJob(), assignment, { desired: "hand-over" });
    expect(sent).toMatchObject([
      { desired: "withdraw", withdraw: { propagationPolicy: "Orphan" } },
      { desired: "withdraw" },
    ]);
    expect(sent[1]).not.toHaveProperty("withdraw");
  });
});
