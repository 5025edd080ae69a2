/**
 * The same requests to a real kube-apiserver and to the sandbox's rules: same verdict, same causes (field and reason, each as often),
 * and after an accepted write the same object. The seed is the same each time, so that a run says something about the change
 * under test; JOBFERRY_VALIDATION_SEED=random (or a number) looks further.
 */
import { decodeJob } from "@jobferry/sandbox/kinds/decode.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Random } from "../../differential/random.ts";
import { realCluster } from "../../harness/real-cluster.ts";
import type { RealCluster } from "../../harness/real-cluster-options.ts";
import { generateCreate, generatePod, generateUpdate } from "./generate.ts";
import { Record } from "./record.ts";
import { editStatus } from "./status-fields.ts";
import { STORED_JOBS, type StoredJob } from "./stored-jobs.ts";
import { accepted, inLanes, Subject } from "./subject.ts";
import { ourCreateVerdict, ourPodVerdict, ourUpdateVerdict } from "./verdict.ts";

const CREATES = 2000;
const UPDATES = 1200;
const WALKS = 48;
const PODS = 800;
const STEPS = 25;

const { JOBFERRY_VALIDATION_SEED: wanted = "1" } = process.env;
const seed = wanted === "random" ? Date.now() % 1_000_000_000 : Number(wanted);
let cluster: RealCluster;
let subject: Subject;

beforeAll(async () => {
  console.log(`validation seed ${seed}`);
  cluster = await realCluster();
  subject = new Subject(cluster, "default");
});

afterAll(() => cluster?.stop());

const storedForm = (job: Job): Job => {
  return decodeJob(job);
};

async function store({ spec, status }: StoredJob, name: string): Promise<Job> {
  const job = await subject.store({ apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec });
  return status === undefined ? job : accepted(await subject.updateStatus(name, { ...job, status }));
}

test(`${CREATES} creates get the same answer (section 27, AP-1 to AP-3)`, async () => {
  const record = new Record();
  await inLanes(CREATES, async (index) => {
    const { json, edits } = generateCreate(new Random(seed + index), `job-${index}`);
    const theirs = await subject.create(json, true);
    record.compare(
      theirs,
      ourCreateVerdict(overTheWire(json), subject.namespace),
      `create ${index}: ${edits.join(" | ")}`,
    );
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
    const before = random.pick(stored as [Job, ...Job[]]);
    const { json, edits } = generateUpdate(random, before);
    const theirs = await subject.update(before.metadata.name ?? "", json, true);
    const ours = ourUpdateVerdict(storedForm(before), overTheWire(json), "");
    record.compare(theirs, ours, `update ${index} of ${before.metadata.name}: ${edits.join(" | ")}`);
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
    let stored = await store(random.pick(STORED_JOBS as [StoredJob, ...StoredJob[]]), name);
    for (let step = 0; step < STEPS; step++) {
      stored = random.chance(0.08) ? await changeSpec(random, stored) : stored;
      const json = structuredClone(stored);
      const edits = Array.from({ length: random.int(1, 3) }, () => editStatus(random, json));
      const theirs = await subject.updateStatus(name, json);
      const story = `walk ${walk} step ${step}: ${edits.join(" | ")} on ${JSON.stringify(stored.status)}`;
      record.compare(theirs, ourUpdateVerdict(storedForm(stored), overTheWire(json), "status"), story);
      if (theirs.outcome === "accepted") stored = accepted(theirs);
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
    const theirs = await subject.createPod(json);
    record.compare(theirs, ourPodVerdict(overTheWire(json), subject.namespace), `pod ${index}: ${edits.join(" | ")}`);
  });
  console.log(record.summary("pods"));
  expect(record.disagreements).toEqual([]);
  expect(record.causes.size).toBeGreaterThan(150);
});

/** Suspends, resumes or scales the stored Job, where that is allowed: several status rules depend on it. */
async function changeSpec(random: Random, stored: Job): Promise<Job> {
  const { spec } = stored;
  const size = random.int(1, 4);
  const change = random.chance(0.5) ? { suspend: !spec.suspend } : { completions: size, parallelism: size };
  const verdict = await subject.update(stored.metadata.name ?? "", { ...stored, spec: { ...spec, ...change } }, false);
  return verdict.outcome === "accepted" ? accepted(verdict) : stored;
}

/** What the server sees: absent and undefined are one, numbers and strings as JSON carries them. */
const overTheWire = (json: object): unknown => JSON.parse(JSON.stringify(json)) as unknown;
