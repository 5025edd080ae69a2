import { expect, it } from "vitest";
import { contenderNames, type Figures, type PodKind, type Turn, type Work } from "./figures.ts";
import { page } from "./page.ts";

const work = (hubWrites: Work["hubWrites"]): Work => ({
  ...{ jobs: 10, seconds: 5, hubWrites, cpuSeconds: 0.1 },
  workerWrites: { "POST jobs": 10, "POST pods": 10, "PATCH pods/status": 30, "POST events": 40, "PUT leases": 3 },
});

/** Everybody's turns, those of shown pods with this many hub writes per Job. */
function figures(shown: number): Figures {
  const turns = (["instant", "containers"] as const).flatMap((pods: PodKind) =>
    contenderNames.map((contender): Turn => {
      const statuses = contender === "dispatched, pods shown" ? 10 * (shown - 1) : 10;
      const cost = work({ "POST jobs": 10, "PATCH jobs": 10, "PUT pods/status": statuses, "POST events": 10 });
      return { pods, round: 1, contender, singles: { ...cost, toPodMs: [20], toCompleteMs: [900] }, burst: cost };
    }),
  );
  return { began: new Date(0), tookSeconds: 1, load: 0, kubernetes: "v1", turns };
}

const goal = (shown: number): string =>
  page(figures(shown), "")
    .split("\n")
    .find((line) => line.startsWith("| hub writes per Job with pods shown")) ?? "";

it("the goal counts what follows the user's create, without events", () => {
  expect(goal(7)).toMatch(/\| 7\.00 \| 7 or fewer \| yes \|$/);
  expect(goal(7.1)).toMatch(/\| 7\.10 \| 7 or fewer \| \*\*no\*\* \|$/);
});

it("a mirror is a write of dispatch, the user's Job on the worker is not; the node's writes are apart", () => {
  const row = (what: string): string =>
    page(figures(5), "")
      .split("\n")
      .find((line) => line.startsWith(`| ${what} | containers`)) ?? "";
  expect(row("burst: controller's writes on the worker per Job")).toContain("| 1.00 | 1.00 | 2.00 | 2.00 |");
  expect(row("one at a time: writes of kubelet and scheduler per Job")).toContain("| 3.00 | 3.00 | 3.00 | 3.00 |");
});
