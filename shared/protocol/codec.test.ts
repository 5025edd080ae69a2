import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDelivery, openReport, sealDelivery, sealReport } from "./codec.ts";
import type { Delivery } from "./delivery.ts";
import { ProtocolError } from "./errors.ts";
import { generateKeyPair } from "./keys.ts";
import { clusterName, epoch, hubUid, parseClusterName } from "./names.ts";
import type { Report } from "./report.ts";
import { Sealer } from "./sealer.ts";

const manager = generateKeyPair();
const agent = generateKeyPair();
const [managerSealer, agentSealer] = [new Sealer([manager]), new Sealer([agent])];
const east = parseClusterName("east");
const uid = "0c7f1f8e-6f0d-4f6e-9f39-3a2f1c9d5b10";

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ProtocolError) return error.message;
    throw error;
  }
  return "accepted";
}

const openReportOf = (payload: string): Report => {
  const envelope = agentSealer.seal(payload, { direction: "report", cluster: east }, manager.publicKey);
  return openReport(envelope, east, managerSealer, [agent.publicKey]);
};
const openDeliveryOf = (payload: string): Delivery => {
  const envelope = managerSealer.seal(payload, { direction: "delivery", cluster: east }, agent.publicKey);
  return openDelivery(envelope, east, agentSealer, [manager.publicKey]);
};

const assignment = {
  kind: "assignment",
  uid: hubUid.parse(uid),
  epoch: epoch.parse(2),
  generation: 3,
  revision: 12,
  namespace: "team-a",
  name: "a.job-with-dots",
  desired: "run",
  job: {
    spec: { template: { spec: { containers: [{ name: "c", image: "busybox", env: [{ name: "constructor" }] }] } } },
    labels: { constructor: "x", "example.org/y": "é" },
    annotations: { note: "a".repeat(200_000) },
  },
  carry: { startTime: "2026-01-02T03:04:05Z", succeeded: 2, failed: 0, completedIndexes: "0,2-5" },
} satisfies Delivery;

const ref = { uid: assignment.uid, epoch: assignment.epoch };

const time = fc
  .integer({ min: 0, max: 4_000_000_000 })
  .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
const counter = fc.nat(2 ** 31 - 1);
const jobStatus = fc.record(
  {
    startTime: time,
    completionTime: time,
    active: counter,
    succeeded: counter,
    failed: counter,
    ready: counter,
    terminating: counter,
    completedIndexes: fc.constantFrom("", "0", "1,3-5", "0-99999"),
    failedIndexes: fc.constantFrom("", "7"),
    conditions: fc.uniqueArray(
      fc.record({
        type: fc.constantFrom("Complete", "Failed", "Suspended", "example.org/Odd"),
        status: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
        lastTransitionTime: time,
        message: fc.string({ unit: "grapheme" }),
      }),
      { selector: ({ type }) => type },
    ),
    uncountedTerminatedPods: fc.record({ failed: fc.array(fc.uuid(), { maxLength: 5 }) }),
  },
  { requiredKeys: [] },
);

describe("messages", () => {
  it("arrive as they were sent: deliveries", () => {
    const samples: Delivery[] = [
      assignment,
      { ...assignment, stopAfterSeconds: 600 },
      { ...ref, kind: "assignment", revision: 13, desired: "delete", propagationPolicy: "Foreground" },
      { ...ref, kind: "assignment", revision: 14, desired: "hand-over" },
      { ...ref, kind: "release" },
      {
        kind: "inventory",
        asOf: 1,
        round: "m:1",
        page: 1,
        pages: 2,
        assignments: [{ uid: assignment.uid, epoch: assignment.epoch, seq: 0 }],
      },
    ];
    for (const sample of samples) {
      const envelope = sealDelivery(sample, east, managerSealer, agent.publicKey);
      expect(openDelivery(envelope, east, agentSealer, [manager.publicKey])).toEqual(sample);
    }
  });

  it("arrive as they were sent: reports", () => {
    const health = {
      clusterID: uid,
      agentVersion: "0.1.0",
      kubernetesVersion: "v1.36.3",
      capacity: { cpu: "8", memory: "32929732Ki", "nvidia.com/gpu": "2" },
      free: { cpu: "7900m", memory: "1e9" },
      largestFreeNode: {},
      largestNode: { cpu: "4" },
      stamp: "agent:17",
      resourceVersion: 12,
      managerKeys: [agent.publicKey.text],
    };
    const samples: Report[] = [
      { ...ref, kind: "refused", reason: "QuotaExceeded", message: "exceeded quota: small" },
      { ...ref, kind: "withdrawn" },
      { ...ref, kind: "newer", has: epoch.parse(9) },
      { ...ref, kind: "withdrawn", last: { seq: 8, status: { succeeded: 1 } } },
      {
        ...ref,
        kind: "event",
        warnings: [
          {
            reason: "FailedScheduling",
            message: "0/3 nodes are available",
            count: 4,
            regarding: { kind: "Pod", name: "pi-0-x" },
          },
        ],
      },
      {
        kind: "inventory",
        round: "a:7",
        page: 1,
        pages: 1,
        mirrors: [{ uid: assignment.uid, epoch: assignment.epoch, generation: 2, finished: true }],
      },
      { ...health, kind: "hello", hubRevision: 77, now: 1_800_000_000_000 },
      { ...health, kind: "heartbeat" },
    ];
    for (const sample of samples) {
      const envelope = sealReport(sample, east, agentSealer, manager.publicKey);
      expect(openReport(envelope, east, managerSealer, [agent.publicKey])).toEqual(sample);
    }
  });

  it("arrive as they were sent: any well-formed status", () => {
    fc.assert(
      fc.property(jobStatus, (status) => {
        const sent = { kind: "status", ...ref, seq: 1, status } as const;
        const envelope = sealReport(sent as Report, east, agentSealer, manager.publicKey);
        expect(openReport(envelope, east, managerSealer, [agent.publicKey])).toEqual(sent);
      }),
    );
  });

  it("are refused with ProtocolError alone, whatever JSON they hold", () => {
    const report = { kind: "status", uid, epoch: 1, seq: 1, status: {} };
    const payload = fc.oneof(
      fc.json(),
      fc.string({ unit: "grapheme" }).map((text) => text.toWellFormed()),
      fc.jsonValue().map((status) => JSON.stringify({ ...report, status })),
      fc
        .tuple(fc.constantFrom(...Object.keys(report)), fc.jsonValue())
        .map(([key, value]) => JSON.stringify({ ...report, [key]: value })),
    );
    fc.assert(
      fc.property(payload, (text) => {
        refusal(() => openReportOf(text));
        refusal(() => openDeliveryOf(text));
      }),
      { numRuns: 500 },
    );
  });

  it("say where the fault is, and never repeat the value", () => {
    const bad = JSON.stringify({ ...assignment, namespace: "SECRET!" });
    expect(refusal(() => openDeliveryOf(bad))).toMatch(/agreed shape \(namespace: /);
    expect(refusal(() => openDeliveryOf(bad))).not.toMatch(/SECRET/);
  });

  it("are refused with __proto__ anywhere in the Job, where the schema does not look", () => {
    const payload = JSON.stringify(assignment).replace('"image":', '"__proto__":{"polluted":true},"image":');
    expect(refusal(() => openDeliveryOf(payload))).toMatch(/__proto__/);
  });

  it("fail at the sender when they would fail at the receiver", () => {
    let deep: unknown = {};
    for (let level = 0; level < 80; level++) deep = { deep };
    const job = { ...assignment.job, spec: deep as (typeof assignment.job)["spec"] };
    expect(refusal(() => sealDelivery({ ...assignment, job }, east, managerSealer, agent.publicKey))).toMatch(
      /nested too deeply/,
    );
  });
});

const health = `"clusterID":"x","agentVersion":"1","kubernetesVersion":"1","capacity":{},"free":{},"largestFreeNode":{},"largestNode":{},"stamp":"a:1","resourceVersion":1,"managerKeys":["${agent.publicKey.text}"]`;

describe("a report is refused that has", () => {
  const status = (fields: string): string => `{"kind":"status","uid":"${uid}","epoch":1,"seq":1,"status":{${fields}}}`;
  const hello = (fields: string): string => `{"kind":"hello",${health},${fields}}`;
  const condition = (fields: string): string => status(`"conditions":[{${fields}}]`);
  const cases: Record<string, string> = {
    "a negative counter": status('"failed":-1'),
    "a fractional counter": status('"failed":1.5'),
    "a huge counter": status('"succeeded":9007199254740993'),
    "a counter beyond int32": status('"active":2147483648'),
    "a counter as text": status('"active":"1"'),
    "a counter as null (NaN in JSON)": status('"active":null'),
    "overlapping indexes": status('"completedIndexes":"1,1"'),
    "descending indexes": status('"completedIndexes":"5,3"'),
    "malformed indexes": status('"completedIndexes":"1-2-3"'),
    "far too many indexes": status(`"completedIndexes":"${"1,".repeat(500_000)}1"`),
    "a time with milliseconds": status('"startTime":"2026-01-01T00:00:00.123Z"'),
    "a time with an offset": status('"startTime":"2026-01-01T00:00:00+01:00"'),
    "a day that does not exist": status('"startTime":"2026-02-30T00:00:00Z"'),
    "no time at all": status('"completionTime":"soon"'),
    "a condition without a type": condition('"status":"True"'),
    "a condition with an unknown status": condition('"type":"Complete","status":"Maybe"'),
    "a condition with an unknown field": condition('"type":"Complete","status":"True","severity":"high"'),
    "a condition twice": status('"conditions":[{"type":"Failed","status":"True"},{"type":"Failed","status":"False"}]'),
    "too many conditions": status(
      `"conditions":[${Array.from({ length: 40 }, (_, i) => `{"type":"T${i}","status":"True"}`)}]`,
    ),
    "too many uncounted pods": status(
      `"uncountedTerminatedPods":{"failed":[${Array.from({ length: 2000 }, () => '"u"')}]}`,
    ),
    "an unknown status field": status('"phase":"Done"'),
    "__proto__ in the status": status('"__proto__":{"active":1}'),
    "__proto__ deep down": condition('"type":"Complete","status":"True","message":{"__proto__":1}'),
    "constructor in the status": status('"constructor":{}'),
    "an unknown kind": `{"kind":"hack","uid":"${uid}","epoch":1}`,
    "epoch 0": `{"kind":"withdrawn","uid":"${uid}","epoch":0}`,
    "a uid that is a key pattern": `{"kind":"withdrawn","uid":"a:*","epoch":1}`,
    "an unknown refusal": `{"kind":"refused","uid":"${uid}","epoch":1,"reason":"Because","message":""}`,
    "a page beyond its pages": `{"kind":"inventory","round":"a:1","page":3,"pages":2,"mirrors":[]}`,
    "negative capacity": hello('"capacity":{"cpu":"-1"}'),
    "a manager key that is not a key": hello('"managerKeys":["short"]'),
    "half a document": '{"kind":"withdrawn"',
    "100,000 brackets": "[".repeat(100_000),
    "100,000 nested lists": "[".repeat(100_000) + "]".repeat(100_000),
  };
  for (const [name, payload] of Object.entries(cases)) {
    it(name, () => expect(refusal(() => openReportOf(payload))).not.toBe("accepted"));
  }

  it("but not what a newer agent adds: that is passed over", () => {
    const opened = openReportOf(hello('"mood":{"good":true}'));
    expect(opened).toMatchObject({ kind: "hello", agentVersion: "1" });
    expect(opened).not.toHaveProperty("mood");
  });
});

describe("a field that this version does not know", () => {
  const handOver = (fields: string): string =>
    `{"kind":"assignment","uid":"${uid}","epoch":1,"revision":1,"desired":"hand-over"${fields}}`;

  it("is passed over", () => {
    expect(openDeliveryOf(handOver(',"grace":5'))).not.toHaveProperty("grace");
  });

  it("is a reason to refuse the message that calls it critical", () => {
    expect(refusal(() => openDeliveryOf(handOver(',"grace":5,"critical":["grace"]')))).toMatch(/upgrade.*\(grace\)/);
    expect(openDeliveryOf(handOver(',"critical":["epoch"]'))).toMatchObject({ desired: "hand-over" });
  });

  it.each(['"grace"', "[1]", `[${Array.from({ length: 17 }, () => '"x"')}]`])(
    "critical is a short list: not %s",
    (list) => {
      expect(refusal(() => openDeliveryOf(handOver(`,"critical":${list}`)))).toMatch(/critical/);
    },
  );
});

describe("cluster names", () => {
  const bad = [
    "",
    "a:b",
    "*",
    "c*",
    "..",
    "a..b",
    "A",
    "-a",
    "a-",
    "a b",
    "a\n",
    "{a}",
    "a".repeat(64),
    "ä",
    "a/b",
    "a.b",
    "manager",
  ];
  it.each(bad)("refuse %j", (name) => {
    expect(() => parseClusterName(name)).toThrow(ProtocolError);
    expect(clusterName.safeParse(name).success).toBe(false);
  });
  it.each(["c1", "c10", "0", "a".repeat(63), "eu-west-1"])("accept %j", (name) => {
    expect(parseClusterName(name)).toBe(name);
  });
});
