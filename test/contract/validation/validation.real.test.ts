/**
 * The same requests to a real kube-apiserver and to a sandbox: same verdict, same causes (field and reason, each as often), and
 * after an accepted write the same object. The seed is the same each time, so that a run says something about the change
 * under test; JOBFERRY_VALIDATION_SEED=random (or a number) looks further.
 */
import type { Job } from "@jobferry/shared/job/types.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../differential/random.ts";
import { realCluster } from "../../harness/real-cluster.ts";
import { sandboxCluster } from "../../harness/sandbox-cluster.ts";
import type { TestCluster } from "../../harness/test-cluster.ts";
import { generateCreate, generatePod, generateUpdate } from "./generate.ts";
import { Record } from "./record.ts";
import { editStatus } from "./status-fields.ts";
import { STORED_JOBS, type StoredJob } from "./stored-jobs.ts";
import { accepted, inLanes, Subject } from "./subject.ts";
import type { Verdict } from "./verdict.ts";

const CREATES = 2000;
const UPDATES = 1200;
const WALKS = 48;
const PODS = 800;
const STEPS = 25;

const { JOBFERRY_VALIDATION_SEED: wanted = "1" } = process.env;
const seed = wanted === "random" ? Date.now() % 1_000_000_000 : Number(wanted);
let clusters: TestCluster[] = [];
let real: Subject;
let sandbox: Subject;

beforeAll(async () => {
  console.log(`validation seed ${seed}`);
  const [first, second] = await Promise.all([realCluster(), sandboxCluster({ kubelet: "none" })]);
  clusters = [first, second];
  real = new Subject(first, "default");
  sandbox = new Subject(second, "default");
});

afterAll(() => Promise.all(clusters.map((cluster) => cluster.stop())));

/** One Job, stored on both. */
interface Twins {
  readonly theirs: Job;
  readonly ours: Job;
}

async function store(job: StoredJob, name: string): Promise<Twins> {
  const [theirs, ours] = await Promise.all([storeOn(real, job, name), storeOn(sandbox, job, name)]);
  return { theirs, ours };
}

async function storeOn(subject: Subject, { spec, status }: StoredJob, name: string): Promise<Job> {
  const job = await subject.store({ apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec });
  return status === undefined ? job : accepted(await subject.updateStatus(name, { ...job, status }));
}

/** A request about their Job, in the words of ours: what the servers chose for them differs. */
function forOurs<T extends object>(request: T, { theirs, ours }: Twins): T {
  const { uid = "", resourceVersion, creationTimestamp } = theirs.metadata;
  const copy = JSON.parse(JSON.stringify(request).replaceAll(uid, ours.metadata.uid ?? "")) as T & Partial<Job>;
  const metadata = (copy.metadata ?? {}) as { resourceVersion?: unknown; creationTimestamp?: unknown };
  if (metadata.resourceVersion === resourceVersion) metadata.resourceVersion = ours.metadata.resourceVersion;
  if (metadata.creationTimestamp === creationTimestamp) metadata.creationTimestamp = ours.metadata.creationTimestamp;
  return copy;
}

/** Sends the request about a stored Job to both. */
function askBoth(
  twins: Twins,
  request: object,
  send: (subject: Subject, request: object) => Promise<Verdict>,
): Promise<[Verdict, Verdict]> {
  return Promise.all([send(real, request), send(sandbox, forOurs(request, twins))]);
}

test(`${CREATES} creates get the same answer (section 27, AP-1 to AP-3)`, async () => {
  const record = new Record();
  await inLanes(CREATES, async (index) => {
    const { json, edits } = generateCreate(new Random(seed + index), `job-${index}`);
    const [theirs, ours] = await Promise.all([real.create(json, true), sandbox.create(json, true)]);
    record.compare(theirs, ours, `create ${index}: ${edits.join(" | ")}`);
  });
  console.log(record.summary("creates"));
  expect(record.disagreements).toEqual([]);
  expect(record.causes.size).toBeGreaterThan(250);
});

test(`${UPDATES} updates get the same answer (section 28, AP-4)`, async () => {
  const record = new Record();
  const stored = await Promise.all(STORED_JOBS.map((job) => store(job, job.name)));
  await inLanes(UPDATES, async (index) => {
    const random = new Random(seed + index);
    const twins = random.pick(stored as [Twins, ...Twins[]]);
    const { name = "" } = twins.theirs.metadata;
    const { json, edits } = generateUpdate(random, twins.theirs);
    const [theirs, ours] = await askBoth(twins, json, (subject, request) => subject.update(name, request, true));
    record.compare(theirs, ours, `update ${index} of ${name}: ${edits.join(" | ")}`);
  });
  console.log(record.summary("updates"));
  expect(record.disagreements).toEqual([]);
  expect(record.causes.size).toBeGreaterThan(60);
});

test(`${WALKS * STEPS} status transitions get the same answer (section 29, AP-5)`, async () => {
  const record = new Record();
  await inLanes(WALKS, async (walk) => {
    const random = new Random(seed + walk);
    const name = `walk-${walk}`;
    let twins = await store(random.pick(STORED_JOBS as [StoredJob, ...StoredJob[]]), name);
    for (let step = 0; step < STEPS; step++) {
      twins = random.chance(0.08) ? await changeSpec(random, twins) : twins;
      const json = structuredClone(twins.theirs);
      const edits = Array.from({ length: random.int(1, 3) }, () => editStatus(random, json));
      const [theirs, ours] = await askBoth(twins, json, (subject, request) => subject.updateStatus(name, request));
      const story = `walk ${walk} step ${step}: ${edits.join(" | ")} on ${JSON.stringify(twins.theirs.status)}`;
      record.compare(theirs, ours, story);
      twins = after(twins, theirs, ours);
    }
  });
  console.log(record.summary("status transitions"));
  expect(record.disagreements).toEqual([]);
  expect(record.causes.size).toBeGreaterThan(14);
});

test(`${PODS} pods get the same answer and defaults (VC-44)`, async () => {
  const record = new Record();
  await inLanes(PODS, async (index) => {
    const { json, edits } = generatePod(new Random(seed + index), `pod-${index}`);
    const [theirs, ours] = await Promise.all([real.createPod(json), sandbox.createPod(json)]);
    record.compare(theirs, ours, `pod ${index}: ${edits.join(" | ")}`);
  });
  console.log(record.summary("pods"));
  expect(record.disagreements).toEqual([]);
  expect(record.causes.size).toBeGreaterThan(150);
});

/** Suspends, resumes or scales the stored Job, where that is allowed: several status rules depend on it. */
async function changeSpec(random: Random, twins: Twins): Promise<Twins> {
  const { metadata, spec } = twins.theirs;
  const size = random.int(1, 4);
  const change = random.chance(0.5) ? { suspend: !spec.suspend } : { completions: size, parallelism: size };
  const request = { ...twins.theirs, spec: { ...spec, ...change } };
  const update = (subject: Subject, job: object): Promise<Verdict> => subject.update(metadata.name ?? "", job, false);
  return after(twins, ...(await askBoth(twins, request, update)));
}

/** What is stored now. A disagreement is on record already; the walk goes on from what each has. */
const after = (twins: Twins, theirs: Verdict, ours: Verdict): Twins => ({
  theirs: theirs.outcome === "accepted" ? accepted(theirs) : twins.theirs,
  ours: ours.outcome === "accepted" ? accepted(ours) : twins.ours,
});
