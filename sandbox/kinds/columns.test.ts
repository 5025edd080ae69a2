import { describe, expect, it } from "vitest";
import type { Stored } from "../store/frozen.ts";
import { columnsFor } from "./columns.ts";

const NOW = Date.UTC(2026, 0, 1, 1);
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString();

function row(kind: string, object: object, metadata: object = {}): Record<string, unknown> {
  const stored = {
    apiVersion: "v1",
    kind,
    metadata: { name: "x", uid: "u", resourceVersion: "1", creationTimestamp: at(5), ...metadata },
    ...object,
  } as Stored;
  return Object.fromEntries(columnsFor(kind).map((column) => [column.name, column.value(stored, NOW)]));
}

const container = (state: object, more: object = {}) => ({ name: "c", ready: false, restartCount: 0, state, ...more });
const pod = (status: object, spec: object = {}) => ({ spec: { containers: [{ name: "c" }], ...spec }, status });

describe("columns of pods", () => {
  it.each([
    ["waiting for a node", pod({ phase: "Pending" }), "0/1 Pending 0"],
    [
      "gated",
      pod({ phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }),
      "0/1 SchedulingGated 0",
    ],
    [
      "running",
      pod({ phase: "Running", containerStatuses: [container({ running: {} }, { ready: true })] }),
      "1/1 Running 0",
    ],
    [
      "failing to start",
      pod({ phase: "Pending", containerStatuses: [container({ waiting: { reason: "ErrImagePull" } })] }),
      "0/1 ErrImagePull 0",
    ],
    [
      "done",
      pod({ phase: "Succeeded", containerStatuses: [container({ terminated: { exitCode: 0, reason: "Completed" } })] }),
      "0/1 Completed 0",
    ],
    [
      "ended by a signal",
      pod({ phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 137, signal: 9 } })] }),
      "0/1 Signal:9 0",
    ],
    [
      "ended by itself",
      pod({ phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 3 } })] }),
      "0/1 ExitCode:3 0",
    ],
    ["evicted", pod({ phase: "Failed", reason: "Evicted" }), "0/1 Evicted 0"],
    [
      "restarted",
      pod({
        phase: "Running",
        containerStatuses: [
          container(
            { running: {} },
            { ready: true, restartCount: 2, lastState: { terminated: { finishedAt: at(3) } } },
          ),
        ],
      }),
      "1/1 Running 2 (3m ago)",
    ],
    [
      "initialising",
      pod(
        { phase: "Pending", initContainerStatuses: [{ name: "i", restartCount: 0, state: { running: {} } }] },
        { initContainers: [{ name: "i" }, { name: "j" }] },
      ),
      "0/1 Init:0/2 0",
    ],
    [
      "with a failed init container",
      pod(
        {
          phase: "Failed",
          initContainerStatuses: [
            { name: "i", restartCount: 0, state: { terminated: { exitCode: 1, reason: "Error" } } },
          ],
        },
        { initContainers: [{ name: "i" }] },
      ),
      "0/1 Init:Error 0",
    ],
    [
      "with a sidecar",
      pod(
        {
          phase: "Running",
          initContainerStatuses: [{ name: "s", restartCount: 0, started: true, ready: true, state: { running: {} } }],
          containerStatuses: [container({ running: {} }, { ready: true })],
        },
        { initContainers: [{ name: "s", restartPolicy: "Always" }] },
      ),
      "2/2 Running 0",
    ],
    [
      "with one container done and one running",
      pod({
        phase: "Running",
        containerStatuses: [
          container({ terminated: { exitCode: 0, reason: "Completed" } }),
          container({ running: {} }, { ready: true }),
        ],
      }),
      "1/1 NotReady 0",
    ],
  ])("%s", (_, object, wanted) => {
    const { Ready, Status, Restarts } = row("Pod", object);
    expect(`${String(Ready)} ${String(Status)} ${String(Restarts)}`).toBe(wanted);
  });

  it("say that a pod is going", () => {
    expect(row("Pod", pod({ phase: "Running" }), { deletionTimestamp: at(0) }).Status).toBe("Terminating");
    expect(row("Pod", pod({ phase: "Succeeded" }), { deletionTimestamp: at(0) }).Status).toBe("Succeeded");
  });
});

describe("columns of Jobs", () => {
  const job = (status: object, spec: object = {}) => ({ spec: { completions: 3, ...spec }, status });
  const condition = (type: string) => ({ conditions: [{ type, status: "True" }] });

  it.each([
    [job({}), "Running 0/3 "],
    [job({ succeeded: 1, startTime: at(4) }), "Running 1/3 4m"],
    [job({ ...condition("Complete"), succeeded: 3, startTime: at(4), completionTime: at(2) }), "Complete 3/3 2m"],
    [job(condition("Failed")), "Failed 0/3 "],
    [job(condition("Suspended")), "Suspended 0/3 "],
    [job(condition("FailureTarget")), "FailureTarget 0/3 "],
    [job(condition("SuccessCriteriaMet")), "SuccessCriteriaMet 0/3 "],
    [{ spec: { parallelism: 4 }, status: { succeeded: 1 } }, "Running 1/1 of 4 "],
    [{ spec: { parallelism: 1 }, status: {} }, "Running 0/1 "],
  ])("%j", (object, wanted) => {
    const { Status, Completions, Duration } = row("Job", object);
    expect(`${String(Status)} ${String(Completions)} ${String(Duration)}`).toBe(wanted);
  });
});

describe("columns of the others", () => {
  it("nodes", () => {
    const ready = { status: { conditions: [{ type: "Ready", status: "True" }], nodeInfo: { kubeletVersion: "v1" } } };
    expect(row("Node", ready)).toMatchObject({ Status: "Ready", Roles: "<none>", Version: "v1" });
    expect(row("Node", { ...ready, spec: { unschedulable: true } }).Status).toBe("Ready,SchedulingDisabled");
    expect(row("Node", { status: {} }, { labels: { "node-role.kubernetes.io/a": "" } })).toMatchObject({
      Status: "Unknown",
      Roles: "a",
    });
  });

  it("events, which may have only an event time", () => {
    const event = { involvedObject: { kind: "Job", name: "j" }, reason: "R", eventTime: at(2), message: " m \n" };
    expect(row("Event", event)).toMatchObject({ "Last Seen": "2m", Object: "job/j", Message: "m", Reason: "R" });
  });

  it("CronJobs, config maps, secrets and leases", () => {
    const cron = { spec: { schedule: "* * * * *", suspend: true }, status: { lastScheduleTime: at(3), active: [{}] } };
    expect(row("CronJob", cron)).toMatchObject({
      Suspend: "True",
      Active: 1,
      "Last Schedule": "3m",
      Timezone: "<none>",
    });
    expect(row("ConfigMap", { data: { a: "" }, binaryData: { b: "" } }).Data).toBe(2);
    expect(row("Secret", { type: "Opaque", data: { a: "" } })).toMatchObject({ Type: "Opaque", Data: 1 });
    expect(row("Lease", { spec: { holderIdentity: "me" } }).Holder).toBe("me");
    expect(row("Unheard", {})).toEqual({ Name: "x", Age: "5m" });
  });
});
