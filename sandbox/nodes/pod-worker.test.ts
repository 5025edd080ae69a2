import type { Pod, PodStatus } from "@jobferry/shared/job/types.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, test } from "vitest";
import { PodWorker } from "./pod-worker.ts";
import { aPod } from "./testing/pod.ts";
import { EXIT_CODE, RUN_FOR, START_DELAY, STOP_IN, type VirtualBehaviour, VirtualRuntime } from "./virtual-runtime.ts";

function run(pod: Pod, behaviour?: VirtualBehaviour, clock = new VirtualClock()) {
  const history: PodStatus[] = [];
  const worker = new PodWorker({
    pod: { ...pod, metadata: { ...pod.metadata, uid: "u1" } },
    clock,
    runtime: new VirtualRuntime(clock, behaviour),
    events: () => {},
    podIP: "10.0.0.1",
    hostIP: "172.20.0.1",
    restartBackoff: { baseMs: 10_000, maxMs: 300_000 },
    changed: () => history.push(worker.status()),
  });
  worker.start();
  return { clock, worker, history, status: () => worker.status() };
}

const phases = (history: PodStatus[]): string[] =>
  history.map(({ phase }) => phase ?? "").filter((phase, index, all) => phase !== all[index - 1]);
const condition = (status: PodStatus, type: string) => status.conditions?.find((each) => each.type === type);
const runFor = (time: string, exitCode = "0") => ({ annotations: { [RUN_FOR]: time, [EXIT_CODE]: exitCode } });
const init = (name: string, restartPolicy?: string) => ({
  name,
  image: "x",
  ...(restartPolicy === undefined ? {} : { restartPolicy }),
});

test("a pod that succeeds: what the kubelet reports while it runs and at the end", async () => {
  const { clock, status } = run(aPod("p", runFor("5s")));
  expect(status()).toMatchObject({
    phase: "Running",
    startTime: "2026-01-01T00:00:00Z",
    podIP: "10.0.0.1",
    hostIP: "172.20.0.1",
    containerStatuses: [
      {
        name: "c0",
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
        lastState: {},
      },
    ],
  });
  expect(condition(status(), "Ready")).toEqual({
    type: "Ready",
    status: "True",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  await clock.advance(5000);
  expect(status()).toMatchObject({
    phase: "Succeeded",
    containerStatuses: [
      {
        ready: false,
        started: false,
        state: {
          terminated: {
            exitCode: 0,
            reason: "Completed",
            startedAt: "2026-01-01T00:00:00Z",
            finishedAt: "2026-01-01T00:00:05Z",
          },
        },
      },
    ],
  });
  expect(condition(status(), "Ready")).toMatchObject({
    status: "False",
    reason: "PodCompleted",
    lastTransitionTime: "2026-01-01T00:00:05Z",
  });
  expect(condition(status(), "Initialized")).toMatchObject({ status: "True", reason: "PodCompleted" });
  expect(condition(status(), "PodReadyToStartContainers")?.status).toBe("False");
});

test("a pod that fails and is not restarted", async () => {
  const { clock, status, history } = run(aPod("p", runFor("1s", "3")));
  await clock.advance(1000);
  expect(phases(history)).toEqual(["Running", "Failed"]);
  expect(status().containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
  expect(condition(status(), "ContainersReady")).toMatchObject({ status: "False", reason: "PodFailed" });
});

test("with two containers the pod is over when both are, and failed when one has", async () => {
  const pod = aPod("p", { containers: [{}, {}] });
  const { clock, status } = run(pod, (_, container) =>
    container.name === "c0" ? { runMs: 1000, exitCode: 1 } : { runMs: 3000 },
  );
  await clock.advance(1000);
  expect(status().phase).toBe("Running");
  expect(condition(status(), "Ready")?.message).toBe("containers with unready status: [c0]");
  await clock.advance(2000);
  expect(status().phase).toBe("Failed");
});

test("OnFailure: the first restart comes at once, then 10 s, 20 s, ... up to 5 min; success ends it", async () => {
  const starts: number[] = [];
  const pod = aPod("p", { restartPolicy: "OnFailure" });
  const clock = new VirtualClock();
  const behaviour: VirtualBehaviour = (_pod, _container, attempt) => {
    starts.push(clock.monotonic());
    return { runMs: 1, exitCode: attempt < 8 ? 1 : 0 };
  };
  const { status } = run(pod, behaviour, clock);
  await clock.advance(1);
  expect(status().containerStatuses?.[0]).toMatchObject({ restartCount: 1, state: { running: {} } });
  await clock.advance(1);
  expect(status()).toMatchObject({ phase: "Running" });
  expect(status().containerStatuses?.[0]).toMatchObject({
    restartCount: 1,
    ready: false,
    state: {
      waiting: {
        reason: "CrashLoopBackOff",
        message: "back-off 10s restarting failed container=c0 pod=p_default(u1)",
      },
    },
    lastState: { terminated: { exitCode: 1 } },
  });
  await clock.advance(3_600_000);
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0) - 1);
  expect(gaps).toEqual([0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  expect(status()).toMatchObject({ phase: "Succeeded", containerStatuses: [{ restartCount: 8 }] });
});

test("Always: a container that ended well runs again, and the pod stays Running", async () => {
  const { clock, status } = run(aPod("p", { restartPolicy: "Always", ...runFor("1s") }));
  await clock.advance(1000);
  expect(status()).toMatchObject({ phase: "Running", containerStatuses: [{ restartCount: 1, ready: true }] });
});

test("init containers run one after another before the apps", async () => {
  const pod = aPod("p", { initContainers: [init("a"), init("b")] });
  const { clock, status } = run(pod, (_, container) => ({ runMs: container.name === "c0" ? 5000 : 1000 }));
  expect(status()).toMatchObject({
    phase: "Pending",
    initContainerStatuses: [
      { name: "a", state: { running: {} } },
      { name: "b", state: { waiting: { reason: "PodInitializing" } } },
    ],
    containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
  });
  expect(condition(status(), "Initialized")).toMatchObject({
    status: "False",
    reason: "ContainersNotInitialized",
    message: "containers with incomplete status: [a b]",
  });
  await clock.advance(2000);
  expect(status()).toMatchObject({
    phase: "Running",
    initContainerStatuses: [
      { ready: true, state: { terminated: { exitCode: 0 } } },
      { ready: true, state: { terminated: { exitCode: 0 } } },
    ],
  });
});

test("a failed init container fails the pod (Never) or is tried again (OnFailure)", async () => {
  const behaviour: VirtualBehaviour = (_, container, attempt) =>
    container.name === "a" ? { exitCode: attempt === 0 ? 1 : 0 } : { runMs: 1000 };
  const never = run(aPod("p", { initContainers: [init("a")] }), behaviour);
  expect(never.status()).toMatchObject({ phase: "Failed" });
  const onFailure = run(aPod("p", { restartPolicy: "OnFailure", initContainers: [init("a")] }), behaviour);
  expect(onFailure.status()).toMatchObject({ phase: "Running", initContainerStatuses: [{ restartCount: 1 }] });
});

test("a sidecar runs beside the apps, is restarted, and is stopped last", async () => {
  const pod = aPod("p", { initContainers: [init("side", "Always")] });
  const { clock, status } = run(pod, (_, container, attempt) => {
    if (container.name === "c0") return { runMs: 5000 };
    return attempt === 0 ? { runMs: 1000, exitCode: 1 } : { runMs: Number.POSITIVE_INFINITY, stopMs: 2000 };
  });
  await clock.advance(1000);
  expect(status()).toMatchObject({ phase: "Running", initContainerStatuses: [{ restartCount: 1, ready: true }] });
  await clock.advance(4000);
  expect(status()).toMatchObject({ phase: "Running", containerStatuses: [{ state: { terminated: { exitCode: 0 } } }] });
  await clock.advance(2000);
  expect(status()).toMatchObject({
    phase: "Succeeded",
    initContainerStatuses: [{ state: { terminated: { exitCode: 143 } } }],
  });
});

test("the pod's own deadline ends it as Failed, once its containers have stopped", async () => {
  const pod = aPod("p", { activeDeadlineSeconds: 10, annotations: { [RUN_FOR]: "forever", [STOP_IN]: "3s" } });
  const { clock, status } = run(pod);
  await clock.advance(10_000);
  expect(status().phase).toBe("Running");
  await clock.advance(3000);
  expect(status()).toMatchObject({
    phase: "Failed",
    reason: "DeadlineExceeded",
    message: "Pod was active on the node longer than the specified deadline",
    containerStatuses: [{ state: { terminated: { exitCode: 143 } } }],
  });
});

const deleted = (pod: Pod, seconds: number): Pod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    uid: "u1",
    deletionTimestamp: "2026-01-01T00:01:00Z",
    deletionGracePeriodSeconds: seconds,
  },
});

test("deletion: asked to stop, killed when the grace period is over", async () => {
  const pod = aPod("p", { annotations: { [RUN_FOR]: "forever", [STOP_IN]: "60s" } });
  const { clock, worker, status } = run(pod);
  worker.update(deleted(pod, 30));
  await clock.advance(29_999);
  expect(worker.isOver).toBe(false);
  await clock.advance(1);
  expect(worker.isOver).toBe(true);
  expect(status()).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 137 } } }],
  });
});

test("deletion with a shorter grace period cuts an earlier one short", async () => {
  const pod = aPod("p", { annotations: { [RUN_FOR]: "forever", [STOP_IN]: "60s" } });
  const { clock, worker } = run(pod);
  worker.update(deleted(pod, 30));
  await clock.advance(1000);
  worker.update(deleted(pod, 1));
  await clock.advance(1000);
  expect(worker.isOver).toBe(true);
});

test("deleted before its container ran: the container counts as lost", async () => {
  const pod = aPod("p", { annotations: { [START_DELAY]: "10s" } });
  const { worker, status } = run(pod);
  expect(status().phase).toBe("Pending");
  worker.update(deleted(pod, 0));
  expect(status()).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } } }],
  });
});

test("deleted in a crash loop: the last exit is what remains", async () => {
  const pod = aPod("p", { restartPolicy: "OnFailure", annotations: { [EXIT_CODE]: "7" } });
  const { worker, status } = run(pod);
  expect(status().containerStatuses?.[0]?.state?.waiting?.reason).toBe("CrashLoopBackOff");
  worker.update(deleted(pod, 30));
  expect(status()).toMatchObject({
    phase: "Failed",
    containerStatuses: [{ state: { terminated: { exitCode: 7 } }, restartCount: 1 }],
  });
});

test("a pod that ends at once is over before anyone could have seen it run", () => {
  const { worker, status } = run(aPod("p"));
  expect(worker.isOver).toBe(true);
  expect(status()).toMatchObject({ phase: "Succeeded", containerStatuses: [{ restartCount: 0 }] });
});

test("once over, nothing changes the status", () => {
  const pod = aPod("p");
  const { worker, status } = run(pod);
  const final = status();
  worker.fail({ reason: "Evicted", message: "" });
  worker.update(deleted(pod, 0));
  expect(status()).toEqual(final);
});
