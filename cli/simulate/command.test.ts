import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runGenerate, runSimulate } from "./command.ts";

const directory = mkdtempSync(join(tmpdir(), "jobferry-simulate-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

const trace = file(
  "trace.csv",
  `name,queue,arrival,run,pods,cpu,nvidia.com/gpu
train,research,0,10m,1,4,1
sweep,research,1,10m,4,4,
report,nightly,5,1h,2,2,
`,
);
const fleet = (name: string, nodes: number): string =>
  file(
    name,
    `kind: JobQueue
metadata: { name: research }
spec: { weight: 2 }
---
kind: JobQueue
metadata: { name: nightly }
---
kind: WorkerCluster
metadata: { name: own }
nodes: [{ count: ${nodes}, allocatable: { cpu: 8, nvidia.com/gpu: 1 } }]
`,
  );
const small = fleet("small.yaml", 1);
const large = fleet("large.yaml", 4);

function simulate(flags: Record<string, unknown>, of = trace): { text: string; told: string; right: boolean } {
  const [printed, told]: [string[], string[]] = [[], []];
  const out = { print: (line: string) => printed.push(line), progress: (line: string) => told.push(line) };
  const right = runSimulate(of, { flags, env: {} }, out);
  return { text: printed.join("\n"), told: told.join(""), right };
}

describe("jobferry simulate", () => {
  it("prints a table by queue and by resource", () => {
    const { text, right } = simulate({ fleet: large });
    expect(right).toBe(true);
    expect(text).toMatch(/^wrong placements +0$/m);
    expect(text).toMatch(/^QUEUE +WEIGHT +JOBS +WAIT P50 +P90 +P99 +SHARE +DEVIATION$/m);
    expect(text).toMatch(/^research +2 +2 +0 s/m);
    expect(text).toMatch(/^nvidia.com\/gpu +4 +/m);
  });

  it("--compare puts two fleets side by side, --output json is for programs", () => {
    const { text } = simulate({ fleet: small, compare: large });
    expect(text).toMatch(/small\.yaml +\S*large\.yaml$/m);
    expect(text.match(/^research/gm)).toHaveLength(2);
    const runs = JSON.parse(simulate({ fleet: small, compare: large, output: "json" }).text);
    expect(runs).toMatchObject([
      { jobs: 3, wrongPlacements: 0, queues: [{ queue: "research" }, { queue: "nightly" }] },
      { jobs: 3, finished: 3, largestDeviation: null },
    ]);
    const wait = (i: number): number => runs[i].queues[1].waitSeconds.p99;
    expect(wait(0)).toBeGreaterThan(wait(1));
  });

  it("--svg draws a picture that is well formed, with names that need escaping", () => {
    const odd = file("odd <&> name.yaml", readFileSync(small, "utf8"));
    const path = join(directory, "picture.svg");
    simulate({ fleet: odd, compare: large, svg: path });
    const svg = readFileSync(path, "utf8");
    expect(svg.includes("odd &lt;&amp;&gt; name.yaml")).toBe(true);
    expect(svg.includes("NaN")).toBe(false);
    const open: string[] = [];
    for (const [, slash, name = "", rest = ""] of svg.matchAll(/<(\/?)([a-z]+)((?:\s+[\w:-]+="[^"<&]*")*)\s*\/?>/g)) {
      if (slash === "/") expect(open.pop()).toBe(name);
      else if (!svg.includes(`<${name}${rest}/>`)) open.push(name);
    }
    expect(open).toEqual([]);
    // Nothing is left that is not an element or text between them.
    const text = svg.replaceAll(/<\/?[a-z]+(?:\s+[\w:-]+="[^"<&]*")*\s*\/?>/g, "");
    expect(text.match(/[<>]/g)).toBeNull();
    expect(svg.match(/<polyline/g)).toHaveLength(2 * (2 + 2 + 2));
    const labels = ["minutes", "research", "Waiting for a cluster, by queue (Jobs)", "100 %"];
    expect(labels.filter((label) => !svg.includes(label))).toEqual([]);
  });

  it("--load draws Jobs from the trace, the same ones for the same seed", () => {
    const flags = { fleet: small, load: "1.2", loadResource: "cpu", over: "10h", maxRun: "20m", output: "json" };
    const [one, same, other] = [1, 1, 2].map((seed) => JSON.parse(simulate({ ...flags, seed }).text)[0]);
    expect(one.jobs).toBeGreaterThan(30);
    expect(one.queues).toEqual(same.queues);
    expect(one.queues).not.toEqual(other.queues);
    expect(one.resources[0].underFullLoad).toBeGreaterThan(0.5);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["no fleet", {}, "--fleet is missing"],
    ["a fleet that is not there", { fleet: "/nowhere.yaml" }, "the fleet file /nowhere.yaml cannot be read"],
    ["a time", { fleet: small, heartbeat: "often" }, '--heartbeat: "often" is not a time'],
    [
      "a resource that nobody has",
      { fleet: small, load: "1", loadResource: "tpu" },
      "--load-resource: the fleet has no tpu",
    ],
    [
      "a picture that cannot be written",
      { fleet: small, svg: "/nowhere/p.svg" },
      "--svg: /nowhere/p.svg cannot be written",
    ],
  ])("says what is wrong with %s", (_, flags, message) => {
    expect(() => simulate(flags)).toThrow(message);
  });

  it("names queues of the trace that the fleet does not have", () => {
    const other = file("other.csv", "arrival,run,queue\n0,1,reserch\n");
    expect(() => simulate({ fleet: small }, other)).toThrow("has Jobs of queue reserch, and");
    expect(() => simulate({ fleet: small }, "/nowhere.csv")).toThrow("the trace /nowhere.csv cannot be read");
  });
});

describe("jobferry simulate generate", () => {
  const generate = (what: string, flags: Record<string, unknown> = {}): string => {
    let text = "";
    runGenerate(what, { flags, env: {} }, { print: (line) => (text = line), progress: () => {} });
    return text;
  };

  it("makes a trace and a fleet that fit each other; a small replay has no wrong placement", () => {
    const path = file("generated.yaml", generate("fleet"));
    const of = file("generated.csv", generate("trace", { jobs: 600, over: "10m", seed: 3 }));
    const { text, right } = simulate({ fleet: path, output: "json", maxRun: "1h" }, of);
    expect(right).toBe(true);
    expect(JSON.parse(text)[0]).toMatchObject({ jobs: 600, wrongPlacements: 0 });
  });

  it("makes nothing else", () => {
    expect(() => generate("noise")).toThrow("makes a trace or a fleet");
  });
});
