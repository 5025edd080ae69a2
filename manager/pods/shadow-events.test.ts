import type { PodEvent, ReportedPod } from "@jobferry/shared/protocol/pod-report.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, it } from "vitest";
import { eventNews, ShadowEvents, type Told } from "./shadow-events.ts";

const NONE: Told = { counts: new Map(), started: false };
const event = (
  reason: string,
  type: PodEvent["type"] = "Normal",
  count = 1,
  at = "2026-01-01T00:00:00Z",
): PodEvent => ({
  ...{ type, reason, count, at, message: `${reason} it` },
});
const aPod = (phase: "Pending" | "Running" | "Failed", ...events: PodEvent[]): ReportedPod => ({
  ...{ name: "pi-1", uid: "u1", status: { phase }, events },
});

describe("of the events of a pod", () => {
  it("those of its start are told in one, when it has started, and once", () => {
    const start = [event("Scheduled"), event("Pulled"), event("Started")];
    const waiting = eventNews(aPod("Pending", event("Scheduled")), NONE);
    expect(waiting.news).toEqual([]);
    const running = eventNews(aPod("Running", ...start), waiting.told);
    expect(running.news).toEqual([
      {
        type: "Normal",
        reason: "Started",
        message: "Scheduled: Scheduled it; Pulled: Pulled it; Started: Started it",
        times: 1,
      },
    ]);
    expect(eventNews(aPod("Failed", ...start, event("Pulled again")), running.told).news).toEqual([]);
  });

  it("warnings are told at once, and what is counted up is told as often as it came", () => {
    const first = eventNews(aPod("Pending", event("BackOff", "Warning", 2)), NONE);
    expect(first.news).toMatchObject([{ type: "Warning", reason: "BackOff", times: 2 }]);
    const second = eventNews(aPod("Pending", event("BackOff", "Warning", 5)), first.told);
    expect(second.news).toMatchObject([{ times: 3 }]);
    expect(eventNews(aPod("Pending", event("BackOff", "Warning", 5)), second.told).news).toEqual([]);
  });

  it("that it is killed is told by itself", () => {
    const { told } = eventNews(aPod("Running", event("Started")), NONE);
    expect(eventNews(aPod("Running", event("Started"), event("Killing")), told).news).toMatchObject([
      { type: "Normal", reason: "Killing" },
    ]);
  });
});

it("a manager that takes over does not tell again what was before its time", async () => {
  const clock = new VirtualClock();
  const now = new Date(Math.floor(clock.now() / 1000) * 1000);
  const at = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toISOString().replace(".000Z", "Z");
  const told: string[] = [];
  const events = new ShadowEvents(
    { record: (_, __, type, reason, message) => void told.push(`${type} ${reason} ${message}`) },
    clock,
  );
  const shadow = { metadata: { name: "shadow" }, spec: { containers: [] } };
  events.tell(
    shadow,
    "east",
    aPod("Running", event("Old", "Warning", 1, at(-10)), event("BackOff", "Warning", 1, at(3))),
  );
  events.tell(shadow, "east", aPod("Running", event("BackOff", "Warning", 1, at(3))));
  expect(told).toEqual(["Warning BackOff [east] BackOff it"]);
});
