import { expect, it } from "vitest";
import { parseTrace } from "./read-trace.ts";
import { duration, secondsOf } from "./seconds.ts";
import { traceText } from "./write-trace.ts";

it("reads Jobs in the order of their arrival, from zero on", () => {
  const text = `name,arrival,run,pods,cpu,memory,nvidia.com/gpu,queue,priority,namespace,gang,node-labels,tolerations,cluster-selector
late,1h,90,,500m,1Gi,,,,,,,,
"a, b",30,1h30m,4,2,,8,research,7,team,true,zone=a|b;arch=arm64,gpu;team=ml,"site in (own, cloud)"
`;
  const [first, second] = parseTrace("t.csv", text);
  expect(first).toEqual({
    name: "a, b",
    arrivalMs: 0,
    runMs: 5_400_000,
    shape: {
      namespace: "team",
      queue: "research",
      priority: 7,
      pods: 4,
      gang: true,
      perPod: new Map([
        ["cpu", 2000],
        ["nvidia.com/gpu", 8],
      ]),
      nodeLabels: [
        { key: "zone", values: ["a", "b"] },
        { key: "arch", values: ["arm64"] },
      ],
      tolerations: [{ key: "gpu" }, { key: "team", value: "ml" }],
      clusterSelector: "site in (own, cloud)",
    },
  });
  expect(second).toMatchObject({
    name: "late",
    arrivalMs: 3_570_000,
    runMs: 90_000,
    shape: { queue: "default", pods: 1 },
  });
});

const HEAD = "arrival,run,cpu\n";
it.each<[string, string, string]>([
  ["nothing", "", "the file is empty"],
  ["no Jobs", HEAD, "there is no Job in it"],
  ["a missing column", "arrival,cpu\n1,1\n", "column run is missing"],
  ["a column by a slip", "arival,run\n1,1\n", "column 1: no such column: arival, did you mean arrival?"],
  ["a column twice", "run,arrival,run\n1,1,1\n", "column run is there twice"],
  ["a time", `${HEAD}1,soon,1\n`, 'line 2, column 2 (run): "soon" is not a time'],
  ["a quantity", `${HEAD}1,1,1\n2,2,lots\n`, 'line 3, column 3 (cpu): "lots" is not a quantity'],
  ["too few cells", `${HEAD}1,1\n`, "line 2: has 2 cells, and the heading has 3"],
  ["an open quote", `${HEAD}1,"1,1\n`, "line 2: a quote is opened and never closed"],
  ["text behind a quote", `${HEAD}1,"1"x,1\n`, "line 2: there is text behind a closing quote"],
  ["a number of pods", "arrival,run,pods\n1,1,0\n", 'column 3 (pods): "0" is not a whole number from 1 to 100000'],
  ["a truth", "arrival,run,gang\n1,1,yes\n", 'column 3 (gang): "yes" is neither true nor false'],
  ["a label", "arrival,run,node-labels\n1,1,zone\n", 'column 3 (node-labels): "zone" is not key=value'],
  ["a selector", "arrival,run,cluster-selector\n1,1,a in\n", "column 3 (cluster-selector)"],
  [
    "a GPU task",
    "name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos,creation_time,deletion_time\nt,x,1,0,,LS,0,1\n",
    'line 2, column 2 (cpu_milli): "x" is not a number',
  ],
])("says where it does not understand %s", (_, text, message) => {
  expect(() => parseTrace("t.csv", text)).toThrow(message);
  expect(() => parseTrace("t.csv", text)).toThrow("t.csv");
});

it("reads the task list of the public GPU trace: a part of a GPU is one, tasks of one second and shape are one Job", () => {
  const text = `name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
one,6000,12288,1,460,,LS,Running,100,200,110
two,6000,12288,1,460,,LS,Running,100,200,110
three,1000,1024,8,1000,V100M16|V100M32|V100M32,BE,Pending,150,170,
`;
  const [pair, alone] = parseTrace("t.csv", text);
  expect(pair).toMatchObject({
    name: "one",
    arrivalMs: 0,
    runMs: 90_000,
    shape: { pods: 2, queue: "ls", nodeLabels: [] },
  });
  expect(alone).toMatchObject({
    arrivalMs: 50_000,
    runMs: 20_000,
    shape: { queue: "be", nodeLabels: [{ key: "nvidia.com/gpu.product", values: ["V100M16", "V100M32"] }] },
  });
  expect(alone?.shape.perPod.get("nvidia.com/gpu")).toBe(8);
});

it("reads what it writes", () => {
  const jobs = parseTrace(
    "t.csv",
    "name,queue,arrival,run,pods,cpu,memory,nvidia.com/gpu,node-labels\nj,q,0,7,2,100m,5Mi,1,zone=a|b\n",
  );
  expect(parseTrace("again.csv", traceText(jobs))).toEqual(jobs);
});

it.each([
  ["90", 90],
  ["1.5", 1.5],
  ["15m", 900],
  ["1h30m", 5400],
  ["2d1s", 172_801],
  ["", undefined],
  ["h", undefined],
  ["-1", undefined],
])("%s in seconds", (text, seconds) => expect(secondsOf(text)).toBe(seconds));

it("says times as people do", () => {
  expect([0, 500, 90_000, 600_000, 9_000_000, 400_000_000].map(duration)).toEqual([
    "0 s",
    "0.5 s",
    "90 s",
    "10 min",
    "2.5 h",
    "4.6 d",
  ]);
});
