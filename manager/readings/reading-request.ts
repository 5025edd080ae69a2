import type { LogOptions } from "@jobferry/shared/kube/pod-logs.ts";
import { dnsSubdomain } from "@jobferry/shared/protocol/names.ts";
import { z } from "zod";
import { readLogOptions } from "../pods/log-request.ts";

const reading = z.object({ namespace: dnsSubdomain.max(63), name: dnsSubdomain });
const pod = z.object({ name: dnsSubdomain, uid: z.string().regex(/^[A-Za-z0-9-]{1,64}$/) });
const container = dnsSubdomain.max(63);

/** What `jobferry logs` asks for: the pods of the Job of a LogReading, or the log of one of them. */
export type ReadingRequest = { readonly reading: z.infer<typeof reading> } & (
  | { readonly wants: "pods" }
  | {
      readonly wants: "log";
      readonly pod: z.infer<typeof pod>;
      readonly container: string;
      readonly options: LogOptions;
    }
);

/** `/readings/NAMESPACE/NAME/pods[/POD/UID/CONTAINER]`; undefined for everything else. */
export function readReadingRequest(url: string): ReadingRequest | undefined {
  // Given to a parser of addresses, `//host` would be a host.
  if (!URL.canParse(`https://manager${url}`)) return undefined;
  const { pathname, searchParams } = new URL(`https://manager${url}`);
  // All that these names consist of needs no escapes.
  const [, root, namespace, name, pods, podName, uid, containerName, ...more] = pathname.split("/");
  const found = reading.safeParse({ namespace, name }).data;
  if (root !== "readings" || pods !== "pods" || found === undefined || more.length > 0) return undefined;
  if (podName === undefined) return { reading: found, wants: "pods" };
  const of = pod.safeParse({ name: podName, uid }).data;
  const inside = container.safeParse(containerName).data;
  if (of === undefined || inside === undefined) return undefined;
  return { reading: found, wants: "log", pod: of, container: inside, options: readLogOptions(searchParams) };
}
