import { readdirSync } from "node:fs";
import type { Job, JobCondition, JobStatus } from "@jobferry/shared/job/types.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { packagedFile } from "../files.ts";
import { LAST, TOGETHER } from "./examples.ts";
import { rowOf } from "./row.ts";
import { differences, History } from "./verdict.ts";
import { lineView, tableView } from "./view.ts";

const examples = [...TOGETHER, LAST];
const manifest = (name: string): Job => parse(packagedFile(`cli/up/demo/${name}.yaml`)) as Job;

test("every manifest is an example's, bears its name, and goes to the manager", () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".yaml"));
  expect(files.sort()).toEqual(examples.map(({ name }) => `${name}.yaml`).sort());
  for (const { name } of examples) {
    expect(manifest(name).metadata.name).toBe(name);
    expect(manifest(name).spec.managedBy).toBe(HUB_MANAGED_BY);
  }
});

const condition = (type: JobCondition["type"], reason: string): JobCondition => ({
  type,
  status: "True",
  reason,
  message: `because of ${reason}`,
  lastTransitionTime: "2026-01-01T00:00:07Z",
});

function job(status: JobStatus, cluster: string | undefined, spec: Partial<Job["spec"]> = {}): Job {
  const base = manifest("indexed");
  return {
    ...base,
    metadata: {
      ...base.metadata,
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations: {
        "jobferry.dev/message": "as the manager says",
        ...(cluster === undefined ? {} : { "jobferry.dev/cluster": cluster }),
      },
    },
    spec: { ...base.spec, ...spec },
    status,
  };
}

describe("a row", () => {
  test.each<[string, Job]>([
    ["Waiting", job({}, undefined)],
    ["Assigned", job({}, "a")],
    ["Running", job({ active: 1 }, "a")],
    ["Suspending", job({ active: 1 }, "a", { suspend: true })],
    ["Suspended", job({ conditions: [condition("Suspended", "JobSuspended")] }, "a", { suspend: true })],
    ["Failing", job({ active: 1, conditions: [condition("FailureTarget", "PodFailurePolicy")] }, "a")],
    ["Completing", job({ active: 1, conditions: [condition("SuccessCriteriaMet", "SuccessPolicy")] }, "a")],
    ["Failed", job({ conditions: [condition("Failed", "PodFailurePolicy")] }, "a")],
    ["Complete", job({ conditions: [condition("Complete", "CompletionsReached")] }, "a")],
  ])("says %s", (state, each) => expect(rowOf(each).state).toBe(state));

  test("has the manager's message until the end has one of its own", () => {
    expect(rowOf(job({ succeeded: 2, completedIndexes: "0,1" }, "a"))).toMatchObject({
      cluster: "a",
      indexes: "2/6 (0,1)",
      message: "as the manager says",
    });
    expect(rowOf(job({ conditions: [condition("Failed", "X")] }, "a")).message).toBe("because of X");
  });
});

describe("the verdict", () => {
  const done: JobStatus = {
    succeeded: 6,
    completedIndexes: "0-5",
    conditions: [condition("Complete", "CompletionsReached")],
  };

  test("nothing differs when all is as expected", () => {
    const history = new History();
    history.record(job({ active: 1 }, "a"));
    history.record(job(done, "b"));
    expect(differences(LAST.ending, history)).toEqual([]);
  });

  test("names each difference", () => {
    const history = new History();
    history.record(job({ ...done, completedIndexes: "0-4" }, "a"));
    expect(differences({ ...LAST.ending, through: "Suspended" }, history)).toEqual([
      "completedIndexes is 0-4, not 0-5",
      "clusters is 1, not 2",
      "through is other states only, not Suspended",
    ]);
  });

  test("a Job that was never seen is a difference", () => {
    expect(differences(LAST.ending, new History())).toEqual(["was never seen on the hub"]);
  });
});

describe("the view", () => {
  const clock = (): VirtualClock => new VirtualClock(Date.parse("2026-01-01T00:00:03Z"));

  test("without a terminal: one line per change, and the age is none", async () => {
    const lines: string[] = [];
    const time = clock();
    const view = lineView((line) => lines.push(line), time);
    view.show(rowOf(job({ active: 1 }, "a")));
    await time.advance(1_000);
    view.show(rowOf(job({ active: 2 }, "a")));
    view.show(rowOf(job({ active: 2, succeeded: 1, completedIndexes: "0" }, "a")));
    expect(lines.slice(1).map((line) => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ["indexed", "a", "Running", "0/6", "3s"],
      ["indexed", "a", "Running", "1/6 (0)", "4s"],
    ]);
  });

  test("on a terminal: drawn over itself, every line narrower than the screen, ages going on", async () => {
    const written: string[] = [];
    const time = clock();
    const view = tableView({ columns: 60, write: (text) => written.push(text) }, time);
    view.show(rowOf(job({ active: 1 }, "a")));
    await time.advance(1_000);
    const last = written.at(-1) ?? "";
    expect(last.startsWith("\x1b[4A\x1b[J")).toBe(true);
    expect(last).toMatch(/indexed +a +Running +0\/6 +4s/);
    for (const line of last.split("\n").slice(1)) expect(line.length).toBeLessThan(60);
    view.end();
    const drawn = written.length;
    await time.advance(5_000);
    expect(written).toHaveLength(drawn);
  });
});
