import { z } from "zod";

/** The flags of every command that asks a hub. */
export const hubConfig = z.object({
  kubeconfig: z.string().optional().describe("kubeconfig file of the hub; else KUBECONFIG, ~/.kube/config"),
  context: z.string().optional().describe("context of the kubeconfig; else its current one"),
  output: z.enum(["text", "json"]).default("text").describe("text, or json for programs"),
});
