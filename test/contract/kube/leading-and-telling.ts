import { EventRecorder } from "@jobferry/shared/kube/events.ts";
import { LeaderElector } from "@jobferry/shared/kube/lease.ts";
import { events, jobs, leases } from "@jobferry/shared/kube/resources.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { afterEach, describe, expect, test } from "vitest";
import type { FlakyCluster } from "./subject.ts";

const PATIENCE = { timeout: 60_000, interval: 20 };

export function leadingAndTelling(subject: FlakyCluster): void {
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    subject.proxy.restore();
    for (const stop of stops.splice(0)) await stop();
  });

  describe("leader election", () => {
    /** A candidate, behind the proxy or beside it. */
    function candidate(identity: string, namespace: string, log: string[], behindProxy: boolean) {
      const stop = new AbortController();
      const elector = new LeaderElector({
        api: behindProxy ? subject.client().client : subject.direct,
        clock: realClock,
        identity,
        lease: { namespace, name: "manager" },
        durationMs: 4_000,
        renewDeadlineMs: 2_000,
        retryMs: 300,
        lead: async (signal) => {
          log.push(`${identity} leads`);
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          log.push(`${identity} stops`);
        },
      });
      const done = elector.start(stop.signal);
      const end = (): Promise<void> => {
        stop.abort();
        return done;
      };
      stops.push(end);
      return { elector, end };
    }

    test("hands over at once when the leader stops", async () => {
      const namespace = await subject.newNamespace();
      const log: string[] = [];
      const a = candidate("a", namespace, log, false);
      await expect.poll(() => log, PATIENCE).toEqual(["a leads"]);
      const b = candidate("b", namespace, log, false);
      await expect.poll(() => b.elector.leader, PATIENCE).toBe("a");
      await a.end();
      await expect.poll(() => log, PATIENCE).toEqual(["a leads", "a stops", "b leads"]);
      const { spec } = await subject.direct.get(leases, { namespace, name: "manager" });
      expect(spec).toMatchObject({ holderIdentity: "b", leaseDurationSeconds: 4, leaseTransitions: 1 });
      expect(spec?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    });

    test("a leader that is cut off stops before the other starts", async () => {
      const namespace = await subject.newNamespace();
      const log: string[] = [];
      candidate("a", namespace, log, true);
      await expect.poll(() => log, PATIENCE).toEqual(["a leads"]);
      candidate("b", namespace, log, false);
      subject.proxy.refuse();
      await expect.poll(() => log, PATIENCE).toEqual(["a leads", "a stops", "b leads"]);
    });
  });

  describe("the event recorder", () => {
    test("writes events that count up, and that kubectl shows", async () => {
      const namespace = await subject.newNamespace();
      const recorder = new EventRecorder({ api: subject.direct, clock: realClock, component: "job-controller" });
      stops.push(() => recorder.stop());
      const job = { metadata: { name: "pi", namespace, uid: "6d5f0e9c-6c5e-4c46-9d0a-0b8c3f1b1a11" } };
      for (let i = 0; i < 3; i++) {
        recorder.record(jobs, job, "Warning", "FailedCreate", "quota exceeded");
        await recorder.flush();
      }
      recorder.record(jobs, job, "Normal", "Completed", "Job completed");
      await recorder.flush();
      const { items } = await subject.direct.list(events, { namespace, fieldSelector: "involvedObject.name=pi" });
      expect(items.map(({ reason, count, type }) => `${type} ${reason} ${count}`).toSorted()).toEqual([
        "Normal Completed 1",
        "Warning FailedCreate 3",
      ]);
      const shown = await subject.kubectl("get", "events", "-n", namespace, "--no-headers");
      expect(shown.stdout).toMatch(/Warning\s+FailedCreate\s+job\/pi\s+quota exceeded/);
    });

    test("catches up after the server was away", async () => {
      const namespace = await subject.newNamespace();
      const { client } = subject.client();
      const recorder = new EventRecorder({ api: client, clock: realClock, component: "job-controller" });
      stops.push(() => recorder.stop());
      const job = { metadata: { name: "pi", namespace, uid: "6d5f0e9c-6c5e-4c46-9d0a-0b8c3f1b1a11" } };
      subject.proxy.refuse();
      recorder.record(jobs, job, "Normal", "Suspended", "Job suspended");
      recorder.record(jobs, job, "Normal", "Suspended", "Job suspended");
      await recorder.flush(1000);
      subject.proxy.restore();
      await recorder.flush(60_000);
      const { items } = await subject.direct.list(events, { namespace, fieldSelector: "involvedObject.name=pi" });
      expect(items.map(({ reason, count }) => `${reason} ${count}`)).toEqual(["Suspended 2"]);
    });
  });
}
