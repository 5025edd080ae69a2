import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { EPOCH, HUB_UID_LABEL } from "@jobferry/shared/protocol/marks.ts";
import type { HubUid } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { beforeEach, expect, it } from "vitest";
import { type Identity, identityOf, type Mirrors } from "../mirrors.ts";
import { Reporter } from "./reporter.ts";

type Handler = Parameters<Reflector<Job>["addHandler"]>[0];

const complete = (): JobStatus => ({ succeeded: 1, conditions: [{ type: "Complete", status: "True" }] });

/** Mirrors without a cluster: what the test says was seen. */
class SeenMirrors {
  readonly #byUid = new Map<string, Job>();
  #handler: Handler = {};
  #version = 0;

  see(uid: string, status: JobStatus): void {
    const before = this.#byUid.get(uid);
    const mirror: Job = {
      metadata: {
        name: uid,
        uid: `mirror-of-${uid}`,
        resourceVersion: String(++this.#version),
        labels: { [HUB_UID_LABEL]: uid },
        annotations: { [EPOCH]: "1" },
      },
      spec: { template: { spec: { containers: [] } } },
      status,
    };
    this.#byUid.set(uid, mirror);
    if (before === undefined) this.#handler.added?.(mirror);
    else this.#handler.updated?.(before, mirror);
  }

  asMirrors(): Mirrors {
    const reflector = { addHandler: (handler: Handler) => (this.#handler = handler) };
    const of = (uid: HubUid): Job[] => [this.#byUid.get(uid)].filter((mirror) => mirror !== undefined);
    const all = function* (mirrors: Iterable<Job>): Generator<{ mirror: Job; identity: Identity }> {
      for (const mirror of mirrors) {
        const identity = identityOf(mirror);
        if (identity !== undefined) yield { mirror, identity };
      }
    };
    return { reflector, of, all: () => all(this.#byUid.values()), running: () => 0 } as unknown as Mirrors;
  }
}

let clock: VirtualClock;
let mirrors: SeenMirrors;
let sent: Report[];

beforeEach(() => {
  clock = new VirtualClock();
  mirrors = new SeenMirrors();
  sent = [];
  const transport = {
    sendReport: (report: Report) => {
      sent.push(report);
      return Promise.resolve();
    },
    onDelivery: () => ({ reachable: true, stop: () => Promise.resolve({ abandoned: 0 }) }),
    reachable: true,
    onReachable: () => () => {},
  };
  new Reporter({ transport, mirrors: mirrors.asMirrors(), clock, logger: silentLogger }).start();
});

it("reports a mirror that runs after a moment, with its newest state, once", async () => {
  mirrors.see("a", { active: 1 });
  await clock.advance(200);
  mirrors.see("a", { active: 1, ready: 1 });
  expect(sent).toEqual([]);
  await clock.advance(100);
  expect(sent).toEqual([expect.objectContaining({ kind: "status", uid: "a", status: { active: 1, ready: 1 } })]);
  await clock.advance(60_000);
  expect(sent).toHaveLength(1);
});

it("reports the end at once, and nothing of what came before it", async () => {
  mirrors.see("a", { active: 1 });
  await clock.advance(100);
  mirrors.see("a", complete());
  await clock.advance(0);
  expect(sent).toEqual([expect.objectContaining({ uid: "a", status: complete() })]);
  await clock.advance(60_000);
  expect(sent).toHaveLength(1);
});

it("in a flood of short Jobs only their ends are reported", async () => {
  for (let job = 0; job < 100; job++) mirrors.see(`job-${job}`, { active: 1 });
  await clock.advance(3_000);
  expect(sent).toEqual([]);
  for (let job = 0; job < 100; job++) mirrors.see(`job-${job}`, complete());
  await clock.advance(60_000);
  expect(sent).toHaveLength(100);
});

it("in a flood of long Jobs every state gets through, late at most by the bound", async () => {
  for (let job = 0; job < 2_000; job++) mirrors.see(`job-${job}`, { active: 1 });
  await clock.advance(31_000);
  expect(sent).toHaveLength(2_000);
});

it("in a flood a Job that was suspended is reported after a moment", async () => {
  for (let job = 0; job < 500; job++) mirrors.see(`job-${job}`, { active: 1 });
  mirrors.see("job-7", { conditions: [{ type: "Suspended", status: "True" }] });
  await clock.advance(300);
  expect(sent).toEqual([expect.objectContaining({ uid: "job-7" })]);
});

it("has nothing to say of a mirror without a status", async () => {
  mirrors.see("a", {});
  await clock.advance(60_000);
  expect(sent).toEqual([]);
});
