/** The hub's dispatched Jobs as they change. */
import { isFinished } from "@jobferry/shared/job/conditions.ts";
import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { Reflector } from "@jobferry/shared/kube/reflector.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { HUB_MANAGED_BY } from "@jobferry/shared/protocol/marks.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import type { Logger } from "@jobferry/shared/runtime/logger.ts";
import { rowOf } from "./demo/row.ts";
import type { View } from "./demo/view.ts";

/** More do not fit a terminal; kubectl shows all. */
const MAX_ROWS = 20;

export interface ShowOptions {
  hub: KubeApi;
  view: View;
  logger: Logger;
  signal: AbortSignal;
}

export async function showJobs({ hub, view, logger, signal }: ShowOptions): Promise<void> {
  const shown = new Map<string, Job>();
  const hide = (name: string): void => {
    shown.delete(name);
    view.hide(name);
  };
  const show = (job: Job, isNews: boolean): void => {
    const name = `${job.metadata.namespace}/${job.metadata.name}`;
    if (job.spec.managedBy !== HUB_MANAGED_BY || (!isNews && isFinished(job))) return;
    shown.set(name, job);
    view.show({ ...rowOf(job), job: name });
    if (shown.size <= MAX_ROWS) return;
    const [oldest] = shown.keys();
    const finished = [...shown].find(([, each]) => isFinished(each))?.[0];
    hide(finished ?? oldest ?? "");
  };
  const reflector = new Reflector({ api: hub, resource: jobs, clock: realClock, logger });
  reflector.addHandler({
    // What had ended before we came is history.
    added: (job) => show(job, false),
    updated: (_, job) => show(job, true),
    deleted: (job) => hide(`${job.metadata.namespace}/${job.metadata.name}`),
  });
  await reflector.start(signal);
}
