/** The commands of docs/examples.md beside an embedded fleet, which `npm start` starts (there with the demo before it). */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { startGuarded } from "../harness/guarded-process.ts";
import { makeClone } from "./clone.ts";
import { blocksOf, root } from "./page.ts";
import { Terminal } from "./terminal.ts";

const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

it("examples.md: one by hand, on the hub whose kubeconfig is printed", async () => {
  const clone = await makeClone();
  stops.push(clone.remove);
  const fleet = startGuarded({
    name: "jobferry up",
    command: process.execPath,
    args: [join(root, "cli/main.ts"), "up"],
    env: clone.env,
    logFile: join(clone.state, "up.log"),
  });
  stops.push(() => fleet.stop());
  const printed = ` ${join(clone.state, ".local/state/jobferry/hub.kubeconfig")}\n`;
  await expect.poll(() => fleet.log(), { timeout: 90_000, interval: 100 }).toContain(printed);

  const terminal = new Terminal({ cwd: clone.path, state: clone.state, env: clone.env });
  stops.push(() => terminal.stop());
  const blocks = blocksOf("docs/examples.md").filter(({ language }) => language !== "yaml");
  expect(blocks).toHaveLength(1);
  for (const { at, text } of blocks) {
    const { output } = await terminal.interrupt(at, text, /\nindexed +Complete +6\/6 /);
    expect(output).toMatch(/^job\.batch\/indexed created$/m);
  }
}, 240_000);
