import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { AssignmentDelivery, RunDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { CARRY, EPOCH, GENERATION, HUB_UID_LABEL, OVER, REVISION } from "@jobferry/shared/protocol/marks.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { describe, expect, it } from "vitest";
import { type Action, decide, type Facts } from "./decide.ts";
import { Inventory } from "./inventory.ts";
import type { State } from "./state.ts";

const uid = hubUid.parse("u1");
const [first, second] = [epoch.parse(1), epoch.parse(2)];

interface Described {
  epoch?: number;
  revision?: number;
  marks?: Record<string, string>;
  without?: string;
  leaving?: boolean;
  spec?: object;
  status?: JobStatus;
}

/** Of epoch 2, revision 50 and up to date with generation 1 unless said. */
function mirror({ epoch = 2, revision = 50, marks, without = "", leaving = false, spec, status }: Described = {}): Job {
  const { [without]: _, ...annotations }: Record<string, string> = {
    ...{ [EPOCH]: `${epoch}`, [REVISION]: `${revision}`, [GENERATION]: "1" },
    ...marks,
  };
  const deletion = leaving ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return {
    metadata: { uid: `m${epoch}`, labels: { [HUB_UID_LABEL]: uid }, annotations, ...deletion },
    spec: { template: { spec: { containers: [] } }, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

const complete: JobStatus = { conditions: [{ type: "Complete", status: "True" }] };
const atRest: JobStatus = { conditions: [{ type: "Suspended", status: "True" }], ready: 0, terminating: 0 };
const over = { marks: { [OVER]: "true" }, without: GENERATION, spec: { suspend: true } };
const here = {
  current: mirror(),
  older: mirror({ epoch: 1, revision: 10 }),
  leaving: mirror({ leaving: true }),
  finished: mirror({ status: complete }),
  unseeded: mirror({ marks: { [CARRY]: "pending" } }),
  outOfDate: mirror({ marks: { [GENERATION]: "0" } }),
  newer: mirror({ revision: 200, marks: { [GENERATION]: "0" } }),
  active: mirror({ status: { active: 1 } }),
  stopping: mirror({ ...over, status: { active: 0, terminating: 1 } }),
  uncounted: mirror({
    ...over,
    status: { ...atRest, uncountedTerminatedPods: { succeeded: ["p"] } },
  }),
  stopped: mirror({ ...over, status: atRest }),
  userSuspended: mirror({ spec: { suspend: true }, status: atRest }),
} satisfies Record<string, Job>;
type Here = keyof typeof here;

const run: RunDelivery = {
  kind: "assignment",
  uid,
  epoch: second,
  revision: 100,
  desired: "run",
  generation: 1,
  namespace: "team",
  name: "pi",
  job: { spec: { template: { spec: { containers: [] } } } },
};
const { revision } = run;
const about = { kind: "assignment", uid, epoch: second, revision } as const;
const refusal = { reason: "QuotaExceeded", message: "no room" } as const;
const due = (delivery: AssignmentDelivery, more: object = {}): State => ({
  ...{ at: "due", epoch: second, revision, delivery },
  ...more,
});
const states = {
  run: due(run),
  "run, to stop without contact": due({ ...run, stopAfterSeconds: 600 }),
  "hand-over": due({ ...about, desired: "hand-over" }),
  "hand-over, seen leaving": due({ ...about, desired: "hand-over" }, { seenLeave: true }),
  delete: due({ ...about, desired: "delete", propagationPolicy: "Orphan" }),
  "delete, seen leaving": due({ ...about, desired: "delete", propagationPolicy: "Orphan" }, { seenLeave: true }),
  running: { at: "running", epoch: second, revision },
  "giving back": { at: "giving-back", epoch: second, revision, refusal },
  over: { at: "over", epoch: second, revision, answer: { kind: "withdrawn" }, owed: false },
  "over, owed": { at: "over", epoch: second, revision, answer: { kind: "withdrawn" }, owed: true },
  released: { at: "released", epoch: second, revision },
} satisfies Record<string, State>;

const inventories = {
  none: undefined,
  "lists it": new Inventory(500, [{ uid, epoch: second, seq: 0 }]),
  "is older": new Inventory(99, []),
  "does not list it": new Inventory(500, []),
  "lists an earlier epoch": new Inventory(500, [{ uid, epoch: first, seq: 0 }]),
};

const shown = (action: Action): string => {
  switch (action.do) {
    case "look-again":
      return `look again in ${action.afterMs}`;
    case "delete":
      return `delete ${action.mirrors.map(({ metadata }) => metadata.uid).join()} ${action.propagationPolicy}`;
    case "answer":
      return `answer ${action.answer.kind}${action.mirror === undefined ? "" : " with what it achieved"}`;
    default:
      return action.do;
  }
};

function decided(
  state: keyof typeof states,
  mirrors: readonly Here[],
  {
    inventory = "lists it",
    ...facts
  }: Partial<Omit<Facts, "inventory">> & { inventory?: keyof typeof inventories } = {},
): string {
  return shown(
    decide(states[state], {
      mirrors: mirrors.map((name) => here[name]),
      areRead: false,
      inventory: inventories[inventory],
      inContact: () => true,
      retentionLeftMs: () => 0,
      ...facts,
    }),
  );
}

describe("run", () => {
  it.each<[Here[], keyof typeof inventories, string]>([
    [[], "lists it", "create"],
    [[], "is older", "create"],
    [[], "none", "await"],
    [[], "does not list it", "forget"],
    [[], "lists an earlier epoch", "forget"],
    [["current"], "none", "settle"],
    [["current"], "lists it", "settle"],
    [["outOfDate"], "lists it", "follow"],
    [["outOfDate"], "is older", "follow"],
    [["outOfDate"], "none", "await"],
    [["outOfDate"], "does not list it", "forget"],
    [["unseeded"], "lists it", "follow"],
    [["unseeded"], "none", "await"],
    [["newer"], "lists it", "settle"],
    [["leaving"], "lists it", "await"],
    [["older"], "none", "delete m1 Foreground"],
    [["older", "current"], "lists it", "delete m1 Foreground"],
    [["stopped"], "lists it", "answer withdrawn with what it achieved"],
    [["stopping"], "lists it", "await"],
  ])("with %j, where the inventory %s: %s", (mirrors, inventory, action) => {
    expect(decided("run", mirrors, { inventory })).toBe(action);
  });

  it.each<Here[]>([[], ["outOfDate"]])("without contact it waits if it must not run then: %j", (...mirrors) => {
    const inContact = (seconds: number): boolean => seconds > 600;
    expect(decided("run, to stop without contact", mirrors, { inContact })).toBe("look again in 1000");
    expect(decided("run", mirrors, { inContact })).toBe(mirrors.length === 0 ? "create" : "follow");
  });
});

describe("hand-over", () => {
  it.each<[Here[], string]>([
    [[], "read-mirrors"],
    [["current"], "stop"],
    [["active"], "stop"],
    [["userSuspended"], "stop"],
    [["stopping"], "await"],
    [["uncounted"], "await"],
    [["stopped"], "answer withdrawn with what it achieved"],
    [["finished"], "report"],
    [["leaving"], "await"],
    [["unseeded"], "delete m2 Foreground"],
    [["older"], "delete m1 Foreground"],
  ])("with %j: %s", (mirrors, action) => {
    for (const inventory of ["none", "lists it", "does not list it"] as const)
      expect(decided("hand-over", mirrors, { inventory })).toBe(action);
  });

  it("answers without a mirror once that was read, or seen to leave", () => {
    expect(decided("hand-over", [], { areRead: true })).toBe("answer withdrawn");
    expect(decided("hand-over, seen leaving", [])).toBe("answer withdrawn");
    expect(decided("hand-over", ["active"], { areRead: true })).toBe("stop");
  });
});

describe("delete", () => {
  it.each<[Here[], string]>([
    [[], "read-mirrors"],
    [["current"], "delete m2 Orphan"],
    [["older", "finished"], "delete m1,m2 Orphan"],
    [["leaving"], "await"],
  ])("with %j: %s", (mirrors, action) => {
    expect(decided("delete", mirrors)).toBe(action);
  });

  it("answers once the absence was read, or the mirror seen to leave", () => {
    expect(decided("delete", [], { areRead: true })).toBe("answer withdrawn");
    expect(decided("delete, seen leaving", [])).toBe("answer withdrawn");
    expect(decided("delete", ["current"], { areRead: true })).toBe("delete m2 Orphan");
  });
});

describe("giving back", () => {
  it.each<[Here[], string]>([
    [[], "read-mirrors"],
    [["current"], "stop"],
    [["active"], "settle"],
    [["stopping"], "await"],
    [["stopped"], "answer refused with what it achieved"],
    [["finished"], "report"],
    [["leaving"], "await"],
  ])("with %j: %s", (mirrors, action) => {
    expect(decided("giving back", mirrors)).toBe(action);
  });

  it("a mirror that is gone is refused all the same", () => {
    expect(decided("giving back", [], { areRead: true })).toBe("answer refused");
  });
});

describe("over", () => {
  it.each<[keyof typeof states, Here[], string]>([
    ["over", [], "await"],
    ["over", ["stopped"], "await"],
    ["over", ["current"], "stop"],
    ["over, owed", [], "answer withdrawn"],
    ["over, owed", ["stopped"], "answer withdrawn with what it achieved"],
    ["over, owed", ["current"], "stop"],
  ])("%s, with %j: %s", (state, mirrors, action) => {
    expect(decided(state, mirrors)).toBe(action);
  });
});

describe("released", () => {
  it.each<[Here[], string]>([
    [[], "await"],
    [["current"], "delete m2 Foreground"],
    [["stopped"], "delete m2 Foreground"],
    [["older", "current"], "delete m1,m2 Foreground"],
    [["leaving"], "await"],
    [["finished"], "look again in 700"],
  ])("with %j: %s", (mirrors, action) => {
    expect(decided("released", mirrors, { retentionLeftMs: () => 700 })).toBe(action);
  });

  it("a finished mirror goes at the end of its retention", () => {
    expect(decided("released", ["finished"])).toBe("delete m2 Foreground");
  });
});

it("running: there is nothing to do", () => {
  for (const name of Object.keys(here) as Here[]) expect(decided("running", [name])).toBe("await");
});

describe("the inventory", () => {
  const said = { uid, epoch: second, revision: 100 };
  it.each<[keyof typeof inventories, boolean, boolean]>([
    ["lists it", true, false],
    ["is older", true, false],
    ["does not list it", false, true],
    // The hub was restored from a backup: its past is told, nothing is ended.
    ["lists an earlier epoch", false, false],
  ])("that %s confirms a delivery: %s, disowns its mirror: %s", (name, confirms, disowns) => {
    expect(inventories[name]?.confirms(said)).toBe(confirms);
    expect(inventories[name]?.disowns(said)).toBe(disowns);
  });

  it("that lists a later epoch disowns the mirror", () => {
    expect(inventories["lists it"].disowns({ uid, epoch: first, revision: 10 })).toBe(true);
  });
});
