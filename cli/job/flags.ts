/** The flags of `jobferry explain`: apart from what it starts, so that `--help` answers at once. */
import { z } from "zod";
import { hubConfig } from "../hub/flags.ts";

export const explainConfig = hubConfig.extend({
  namespace: z.string().min(1).optional().describe("namespace of the Job; else the one of the kubeconfig's context"),
});
