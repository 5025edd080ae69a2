import { describe, expect, test } from "vitest";
import { COMPLETION_INDEX, INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT, TRACKING_FINALIZER } from "./keys.ts";
import {
  completionIndex,
  finishTime,
  hasTrackingFinalizer,
  indexFailureCount,
  indexIgnoredFailureCount,
  isPodActive,
  isPodFailed,
  isPodReady,
  isPodTerminal,
  isPodTerminating,
  restartCount,
} from "./pods.ts";
import type { ContainerStatus, Job, JobSpec, ObjectMeta, Pod, PodPhase, PodStatus } from "./types.ts";

const pod = (status: PodStatus, metadata: ObjectMeta = {}): Pod => ({ metadata, spec: { containers: [] }, status });
const job = (spec: Partial<JobSpec> = {}): Job => ({
  metadata: {},
  spec: { template: { spec: { containers: [] } }, ...spec },
});
const t = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, "0")}Z`;
const ms = (second: number) => Date.parse(t(second));

describe("classification (CT-1, CT-2, CT-4)", () => {
  interface Case {
    phase: PodPhase | undefined;
    deleted?: boolean;
    active: boolean;
    terminating: boolean;
    failed: boolean;
    failedIfOnlyFailedReplaced: boolean;
  }
  const no = { active: false, terminating: false, failed: false, failedIfOnlyFailedReplaced: false };
  const cases: Case[] = [
    { ...no, phase: "Pending", active: true },
    { ...no, phase: "Running", active: true },
    { ...no, phase: "Unknown", active: true },
    { ...no, phase: undefined, active: true },
    { ...no, phase: "Succeeded" },
    { ...no, phase: "Failed", failed: true, failedIfOnlyFailedReplaced: true },
    { ...no, phase: "Running", deleted: true, terminating: true, failed: true },
    { ...no, phase: "Unknown", deleted: true, terminating: true, failed: true },
    { ...no, phase: "Succeeded", deleted: true },
    { ...no, phase: "Failed", deleted: true, failed: true, failedIfOnlyFailedReplaced: true },
  ];
  test.each(cases)("$phase, deleted $deleted", (want) => {
    const subject = pod(want.phase ? { phase: want.phase } : {}, want.deleted ? { deletionTimestamp: t(0) } : {});
    expect(isPodActive(subject)).toBe(want.active);
    expect(isPodTerminating(subject)).toBe(want.terminating);
    expect(isPodTerminal(subject)).toBe(!want.active && !want.terminating);
    expect(isPodFailed(subject, job())).toBe(want.failed);
    expect(isPodFailed(subject, job({ podReplacementPolicy: "TerminatingOrFailed" }))).toBe(want.failed);
    expect(isPodFailed(subject, job({ podReplacementPolicy: "Failed" }))).toBe(want.failedIfOnlyFailedReplaced);
    expect(isPodFailed(subject, job({ podFailurePolicy: { rules: [] } }))).toBe(want.failedIfOnlyFailedReplaced);
  });
});

test("ready needs the condition True (CT-3)", () => {
  expect(isPodReady(pod({ conditions: [{ type: "Ready", status: "True" }] }))).toBe(true);
  expect(isPodReady(pod({ conditions: [{ type: "Ready", status: "False" }] }))).toBe(false);
  expect(isPodReady(pod({}))).toBe(false);
});

test("tracking finalizer (K-20)", () => {
  expect(hasTrackingFinalizer(pod({}, { finalizers: ["x/y", TRACKING_FINALIZER] }))).toBe(true);
  expect(hasTrackingFinalizer(pod({}, { finalizers: ["x/y"] }))).toBe(false);
  expect(hasTrackingFinalizer(pod({}))).toBe(false);
});

describe("completion index (IX-1) and failure counts (BI-5)", () => {
  const cases: [string | undefined, number | undefined, number][] = [
    [undefined, undefined, 0],
    ["", undefined, 0],
    ["3", 3, 3],
    ["03", 3, 3],
    ["-1", undefined, 0],
    ["x", undefined, 0],
    ["2147483647", 2147483647, 2147483647],
    ["2147483648", 2147483648, 0],
  ];
  test.each(cases)("%j -> index %s, count %i", (value, index, count) => {
    const subject = (key: string) => pod({}, value === undefined ? {} : { annotations: { [key]: value } });
    expect(completionIndex(subject(COMPLETION_INDEX))).toBe(index);
    expect(indexFailureCount(subject(INDEX_FAILURE_COUNT))).toBe(count);
    expect(indexIgnoredFailureCount(subject(INDEX_IGNORED_FAILURE_COUNT))).toBe(count);
  });

  test("the label is never read (IX-2)", () => {
    expect(completionIndex(pod({}, { labels: { [COMPLETION_INDEX]: "3" } }))).toBeUndefined();
  });
});

test("restarts of init and app containers are added up (BL-4)", () => {
  const status = (restarts: number): ContainerStatus => ({ name: "c", restartCount: restarts });
  expect(restartCount(pod({ containerStatuses: [status(2), status(3)], initContainerStatuses: [status(4)] }))).toBe(9);
  expect(restartCount(pod({}))).toBe(0);
});

describe("finish time (BO-10)", () => {
  const done = (name: string, second: number): ContainerStatus => ({
    name,
    restartCount: 0,
    state: { terminated: { exitCode: 0, finishedAt: t(second) } },
  });
  const running: ContainerStatus = { name: "r", restartCount: 0, state: { running: {} } };
  const notReady: NonNullable<PodStatus["conditions"]> = [
    { type: "Ready", status: "False", lastTransitionTime: t(30) },
  ];
  const metadata: ObjectMeta = { creationTimestamp: t(1) };
  const deleted: ObjectMeta = { ...metadata, deletionTimestamp: t(50), deletionGracePeriodSeconds: 10 };
  const withSidecar = (status: PodStatus): Pod => ({
    ...pod(status, metadata),
    spec: { containers: [], initContainers: [{ name: "side", restartPolicy: "Always" }, { name: "init" }] },
  });
  const cases: [string, Pod, number][] = [
    ["latest container", pod({ containerStatuses: [done("a", 5), done("b", 9), done("c", 7)] }, metadata), 9],
    ["not all terminated: Ready=False", pod({ containerStatuses: [done("a", 5), running], conditions: notReady }), 30],
    ["Ready=False before deletion time", pod({ conditions: notReady }, deleted), 30],
    ["deletion time minus grace", pod({}, deleted), 40],
    [
      "Ready=True says nothing",
      pod({ conditions: [{ type: "Ready", status: "True", lastTransitionTime: t(3) }] }, deleted),
      40,
    ],
    ["creation", pod({}, metadata), 1],
    [
      "terminated without a time",
      pod({ containerStatuses: [{ name: "a", restartCount: 0, state: { terminated: { exitCode: 1 } } }] }, metadata),
      1,
    ],
    [
      "sidecar later than app",
      withSidecar({ containerStatuses: [done("a", 5)], initContainerStatuses: [done("side", 8)] }),
      8,
    ],
    [
      "sidecar running",
      withSidecar({ containerStatuses: [done("a", 5)], initContainerStatuses: [{ ...running, name: "side" }] }),
      1,
    ],
    [
      "ordinary init containers ignored",
      withSidecar({ containerStatuses: [done("a", 5)], initContainerStatuses: [done("init", 9), done("side", 6)] }),
      6,
    ],
    [
      "BO-11: app running, sidecar done",
      withSidecar({ containerStatuses: [running], initContainerStatuses: [done("side", 8)] }),
      8,
    ],
  ];
  test.each(cases)("%s", (_name, subject, second) => {
    expect(finishTime(subject)).toBe(ms(second));
  });
});
