/** Our controller with one rule left out: that the comparison notices it shows that it can fail. */
import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { realClock } from "@jobferry/shared/runtime/clock.ts";
import { rules } from "@jobferry/worker-agent/job-controller/core/rules.ts";
import { type RunningJobController, runJobController } from "@jobferry/worker-agent/job-controller/run.ts";
import { directedCases } from "./directed.ts";
import type { Case } from "./script.ts";

const REASON = "MaxFailedIndexesExceeded";
const MANAGED_BY = "differential.jobferry.dev/sabotaged";

export const sabotaged = {
  play: directedCases.find(({ ends }) => ends.endsWith(REASON)) as Case,
  opponent: { name: "sabotaged", managedBy: MANAGED_BY },
  /** The built-in controller has given up, the other one goes on. */
  symptom: new RegExp(`conditions[.]0: "FailureTarget=True ${REASON}: .*" \\| absent`),
  async start(api: KubeApi): Promise<RunningJobController> {
    const controller = runJobController({
      api,
      clock: realClock,
      claim: { managedBy: MANAGED_BY },
      rules: {
        decideOutcome: (input) => {
          const outcome = rules.decideOutcome(input);
          return outcome?.reason === REASON ? undefined : outcome;
        },
      },
    });
    await controller.started;
    return controller;
  },
};
