/** The flags of `jobferry explain` and `jobferry logs`: apart from what it starts, so that `--help` answers at once. */
import { z } from "zod";
import { hubConfig } from "../hub/flags.ts";

export const explainConfig = hubConfig.extend({
  namespace: z.string().min(1).optional().describe("namespace of the Job; else the one of the kubeconfig's context"),
});

export const logsConfig = explainConfig.omit({ output: true }).extend({
  follow: z.boolean().default(false).describe("go on reading while the pods write"),
  all: z.boolean().default(false).describe("read all its pods, with pod and index before each line"),
  index: z.int().min(0).optional().describe("read the pods of this index of an Indexed Job"),
  container: z.string().min(1).optional().describe("read this container; else the first one of the pod"),
  tail: z.int().min(0).optional().describe("read only this many lines from the end of each log"),
});
