import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { createLogger } from "@jobferry/shared/runtime/logger.ts";
import { describe, expect, it } from "vitest";
import type { Outbox } from "../delivery/outbox.ts";
import type { Hub } from "../hub.ts";
import type { HubCache } from "../hub-cache.ts";
import { aCondition, anAssignedJob, EAST, epochOf, UID } from "../testing/hub-job.ts";
import { Inbox } from "./inbox.ts";
import { Mirroring } from "./mirroring.ts";

const startTime = "2026-01-01T00:00:00Z";
const complete: JobStatus = {
  startTime,
  completionTime: startTime,
  succeeded: 1,
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
  conditions: [aCondition("SuccessCriteriaMet"), aCondition("Complete")],
};
const assignment = { cluster: EAST, epoch: epochOf(2) };

const refusal = (field: string): ApiError =>
  ApiError.fromStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: `${field}: Invalid value`,
    details: { causes: [{ field }] },
  });

/** Mirrors one Complete to a hub which judges every write; what was written at last, and what the user is told. */
async function mirrorTo(store: (status: JobStatus, attempt: number) => JobStatus) {
  const events: string[] = [];
  const attempts: JobStatus[] = [];
  const hub = {
    writeStatus(job: Job, status: JobStatus) {
      attempts.push(status);
      return Promise.resolve({ ...job, status: store(status, attempts.length) });
    },
  };
  const acknowledged: string[] = [];
  const inbox = new Inbox();
  inbox.status(UID, { ...assignment, seq: 10, status: complete });
  const mirroring = new Mirroring({
    hub: hub as unknown as Hub,
    cache: { wrote() {} } as unknown as HubCache,
    inbox,
    outbox: { release: (uid: string) => Promise.resolve(acknowledged.push(uid)) } as unknown as Outbox,
    recorder: { record: (_, __, ___, reason, message) => void events.push(`${reason}: ${message}`) },
    logger: createLogger({ name: "test", level: "silent" }),
    clock: realClock,
    hubVersion: "v1.32.5",
  });
  const { status } = await mirroring.mirror(anAssignedJob({ status: { startTime, active: 1 } }), assignment);
  return { status, events, attempts: attempts.length, acknowledged, isPending: inbox.peek(UID).status !== undefined };
}

describe("a hub of another version", () => {
  it("that rejects fields, one after the other, gets the rest, and the Job says which and why", async () => {
    const { status, events, acknowledged } = await mirrorTo((sent) => {
      if (sent.terminating !== undefined) throw refusal("status.terminating");
      if (sent.conditions?.length === 2) throw refusal("status.conditions");
      return sent;
    });
    const { terminating: _, ...rest } = complete;
    expect(status).toEqual({ ...rest, conditions: [aCondition("Complete")] });
    expect(acknowledged).toEqual([UID]);
    expect(events).toEqual([
      expect.stringMatching(/^StatusRejected: .*cluster east: .*v1\.32\.5\) rejects status\.terminating, the rest is/),
      expect.stringContaining("rejects status.conditions, the rest is written"),
    ]);
  });

  it.each([
    ["everything", "status.conditions"],
    ["a field that is not in the status", "metadata.annotations"],
  ])(
    "that rejects %s is asked a bounded number of times, and the report is not tried again by itself",
    async (_, field) => {
      const { status, events, attempts, acknowledged, isPending } = await mirrorTo(() => {
        throw refusal(field);
      });
      expect(status).toEqual({ startTime, active: 1 });
      expect(events.at(-1)).toContain("nothing was written");
      expect(attempts).toBeLessThanOrEqual(4);
      expect({ acknowledged, isPending }).toEqual({ acknowledged: [], isPending: false });
    },
  );

  it("that drops a field is named, and the Job is finished", async () => {
    const { events, acknowledged } = await mirrorTo(({ completionTime: _, ...sent }) => sent);
    expect(events).toEqual([expect.stringContaining("v1.32.5) does not know status.completionTime: stored without")]);
    expect(acknowledged).toEqual([UID]);
  });
});
