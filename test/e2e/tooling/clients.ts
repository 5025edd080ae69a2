import { join } from "node:path";
import { expect, it } from "vitest";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import type { Tool } from "./tools.ts";
import { exitsWith, jobManifest, runsFor, User } from "./user.ts";

const pythonProgram = join(import.meta.dirname, "python/await_job.py");
const indexed = jobManifest("indexed", {
  spec: { completionMode: "Indexed", completions: 3, parallelism: 3 },
  pod: runsFor("2s"),
});
const failing = jobManifest("failing", { spec: { backoffLimit: 0 }, pod: exitsWith(1) });

/** Client libraries: create, wait until it is done, delete, wait until it is gone. */
export function clientTests(fleet: RealFleet, python: Tool, fabric8: Tool): void {
  /** The outcome as the client saw it. */
  async function outcome(namespace: string, client: Tool, manifest: object, ...args: string[]): Promise<unknown> {
    const user = await User.on(fleet, namespace);
    const said = await user.ok(client, [...args, namespace], JSON.stringify(manifest));
    await user.at.untilNothingIsLeft(manifest === failing ? "failing" : "indexed");
    return JSON.parse(said);
  }

  it.concurrent("the Python client watches until it is done", async ({ skip }) => {
    if (python.missing !== undefined) skip(python.missing);
    expect(await outcome("python-good", python, indexed, pythonProgram)).toEqual({
      outcome: "Complete",
      succeeded: 3,
      failed: null,
      completedIndexes: "0-2",
      hasTimes: true,
      gone: true,
    });
  });

  it.concurrent("the Python client sees a failure", async ({ skip }) => {
    if (python.missing !== undefined) skip(python.missing);
    const seen = await outcome("python-bad", python, failing, pythonProgram);
    expect(seen).toMatchObject({ outcome: "Failed", succeeded: null, failed: 1, gone: true });
  });

  it.concurrent("fabric8's waitUntilCondition returns", async ({ skip }) => {
    if (fabric8.missing !== undefined) skip(fabric8.missing);
    const seen = await outcome("fabric8-good", fabric8, indexed);
    expect(seen).toEqual({ outcome: "Complete", succeeded: 3, failed: null, gone: true });
  });

  it.concurrent("fabric8's waitUntilCondition sees a failure", async ({ skip }) => {
    if (fabric8.missing !== undefined) skip(fabric8.missing);
    const seen = await outcome("fabric8-bad", fabric8, failing);
    expect(seen).toEqual({ outcome: "Failed", succeeded: null, failed: 1, gone: true });
  });
}
