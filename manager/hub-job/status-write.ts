import type { Job, JobStatus } from "@jobferry/shared/job/types.ts";
import type { HubJobs } from "../hub/jobs.ts";
import type { StatusReport } from "../reports/accept.ts";
import { forgottenBy, rejectionOf } from "../reports/rejected.ts";

/** An API server may name the next field only when the first is gone. */
const MAX_ROUNDS = 4;

/**
 * Stores a reported status. A hub that does not take what our rules allow, because it is of another version, gets the rest;
 * `complain` hears what it lacks. Resolves to the Job as it then is.
 */
export async function storeStatus(
  jobs: Pick<HubJobs, "writeStatus">,
  job: Job,
  wanted: JobStatus,
  report: StatusReport,
  finished: boolean,
  complain: (what: string) => void,
): Promise<Job> {
  let status = wanted;
  const message = finished ? { message: `finished on ${report.cluster}` } : {};
  for (let round = 1; ; round++) {
    try {
      const written = await jobs.writeStatus(job, status, { ...report, finished, ...message });
      const forgotten = forgottenBy(written.status, status);
      if (forgotten.length > 0) complain(`does not know ${forgotten.join(", ")}: stored without`);
      return written;
    } catch (error) {
      const rejection = rejectionOf(error, status, job.status ?? {});
      if (rejection === undefined) throw error;
      const { fields, reduced } = rejection;
      const canGoOn = reduced !== undefined && round < MAX_ROUNDS;
      const outcome = canGoOn ? "the rest is written" : "nothing was written";
      complain(`rejects ${fields.join(", ") || "the status"}, ${outcome}: ${(error as Error).message}`);
      if (!canGoOn) return job;
      status = reduced;
    }
  }
}
