/** Stands in for a kubelet of a worker: serves logs of containers that never ran, as its test wants them. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { nodes } from "@jobferry/manager/pods/node.ts";
import { serverCertificate } from "../../harness/certificates.ts";
import type { RealCluster } from "../../harness/real-cluster-options.ts";

/** What it is asked: the path behind /containerLogs/, and the query. */
interface LogRequest {
  readonly namespace: string;
  readonly container: string;
  readonly query: URLSearchParams;
}

type LogAnswer = (request: LogRequest, response: ServerResponse) => Promise<void> | void;

export interface StandInKubelet {
  readonly requests: string[];
  /** Logs of this namespace. */
  serve(namespace: string, answer: LogAnswer): void;
  stop(): Promise<void>;
}

export async function standInKubelet(cluster: RealCluster, node: string): Promise<StandInKubelet> {
  const answers = new Map<string, LogAnswer>();
  const requests: string[] = [];
  const server = createServer(await serverCertificate(), (request, response) => {
    const { pathname, search, searchParams } = new URL(request.url ?? "", "https://kubelet");
    const [, , namespace = "", , container = ""] = pathname.split("/");
    requests.push(`${container}${search}`);
    const answer = answers.get(namespace);
    if (answer === undefined) response.writeHead(404).end("no such container");
    else
      Promise.resolve(answer({ namespace, container, query: searchParams }, response)).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const status = {
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: (server.address() as AddressInfo).port } },
  };
  await cluster.api.patch(nodes, { name: node }, { type: "merge", body: { status } }, { subresource: "status" });
  return {
    requests,
    serve: (namespace, answer) => void answers.set(namespace, answer),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
