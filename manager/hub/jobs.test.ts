import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { expect, it } from "vitest";
import { anAssignedJob, anAssignment, phases, UID } from "../testing/hub-job.ts";
import { HubJobs, type HubJobsOptions } from "./jobs.ts";

/** The bodies of all writes. */
function aHub() {
  const written: Job[] = [];
  const api = {
    patch: async (_: unknown, __: unknown, { body }: { body: Job }) => {
      written.push(body);
      return anAssignedJob();
    },
    replace: async (_: unknown, __: unknown, body: Job) => {
      written.push(body);
      return body;
    },
  } as unknown as Pick<KubeApi, "patch" | "replace">;
  const watched = { byIndex: () => [], list: () => [], resourceVersion: "9", hasSynced: true, addHandler: () => {} };
  return { written, jobs: new HubJobs({ api, phases, watched } as unknown as HubJobsOptions) };
}

const WRITES: Record<string, (jobs: HubJobs, job: Job) => Promise<Job>> = {
  assign: (jobs, job) => jobs.assign(job, anAssignment(), "dispatched"),
  adopt: (jobs, job) => jobs.adopt(job, anAssignment(3)),
  unassign: (jobs, job) => jobs.unassign(job, anAssignment(), "lost"),
  disown: (jobs, job) => jobs.disown(job, {}, "forged"),
  dropFinalizer: (jobs, job) => jobs.dropFinalizer(job),
  say: (jobs, job) => jobs.say(job, "waiting"),
  writeStatus: (jobs, job) => jobs.writeStatus(job, { active: 1 }),
};

it.each(Object.keys(WRITES))(
  "%s is locked to the Job, and to the version of it, that was decided on",
  async (write) => {
    const { written, jobs } = aHub();
    await WRITES[write]?.(jobs, anAssignedJob({ metadata: { resourceVersion: "7" } }));
    expect(written.map(({ metadata }) => metadata)).toMatchObject([{ resourceVersion: "7", uid: UID }]);
  },
);
