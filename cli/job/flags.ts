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
  askManager: z
    .boolean()
    .default(false)
    .describe("ask the manager even if the hub shows the pods; it does so by itself where the hub shows none"),
  managerNamespace: z.string().min(1).optional().describe("namespace of the manager on the hub; else jobferry-system"),
  managerUrl: z
    .string()
    .regex(/^https:\/\/\S+$/, "must begin with https://")
    .optional()
    .describe("address of the manager's --logs-port, where the API server does not reach it"),
  managerCaFile: z.string().optional().describe("authority of the certificate at that address, in PEM"),
});
