/**
 * Logs of a worker's pods, read on the hub through the real API server's own path: kubectl, kube-apiserver, the manager's kubelet
 * endpoint, Redis, the agent, the worker's kube-apiserver, and a kubelet that is stood in for.
 */
import { createHash } from "node:crypto";
import { request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { nodes } from "@jobferry/manager/pods/node.ts";
import { openClient } from "@jobferry/shared/kube/open-client.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { SHADOW_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Certificate, certificateAuthority, clientCertificate } from "../../harness/certificates.ts";
import { type FleetNamespace, forever } from "../dispatch/fleet-namespace.ts";
import type { RealFleet } from "../dispatch/real-fleet.ts";
import { startLogFleet } from "./log-fleet.ts";
import type { StandInKubelet } from "./stand-in-kubelet.ts";

let authority: Certificate;
let fleet: RealFleet;
let kubelet: StandInKubelet;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  ({ fleet, kubelet, authority, stop } = await startLogFleet());
}, 300_000);
afterAll(() => stop?.());

/** A namespace with a Job `pi` that runs, shown on the hub. */
async function running(name: string, parallelism = 1): Promise<FleetNamespace> {
  const at = await fleet.namespace(name);
  const containers = [
    { name: "main", image: "none" },
    { name: "side", image: "none" },
  ];
  await at.submit("pi", {
    spec: { parallelism, completions: parallelism },
    pod: { ...forever, spec: { containers } },
  });
  await fleet.until("the Job's pods are shown as running", async () => {
    const { items } = await fleet.hub.api.list(pods, { namespace: name, labelSelector: SHADOW_LABEL });
    return items.length === parallelism && items.every(({ status }) => status?.phase === "Running");
  });
  return at;
}

const logs = (at: FleetNamespace, ...flags: string[]) => fleet.hub.kubectl("logs", "job/pi", "-n", at.name, ...flags);

describe.concurrent("kubectl logs on the hub", () => {
  it("reads a Job's log, of the container and with the options that were asked for", async () => {
    const at = await running("options");
    kubelet.serve(at.mapped, ({ container, query }, response) => {
      query.sort();
      response.end(`${container} ${query}\n`);
    });
    const asked = async (...flags: string[]): Promise<string> => {
      const { stdout, stderr } = await logs(at, ...flags);
      return stdout || stderr;
    };
    expect(await asked("-c", "main")).toBe("main \n");
    expect(await asked("-c", "side")).toBe("side \n");
    expect(await asked("-c", "main", "--tail=2")).toBe("main tailLines=2\n");
    expect(await asked("-c", "main", "--since=60s")).toBe("main sinceSeconds=60\n");
    expect(await asked("-c", "main", "--since-time=2026-01-01T00:00:00Z")).toMatch(/^main sinceTime=2026-01-01/);
    expect(await asked("-c", "main", "--previous")).toBe("main previous=true\n");
    expect(await asked("-c", "main", "--timestamps")).toBe("main timestamps=true\n");
    expect(await asked("-c", "main", "--limit-bytes=50")).toBe("main limitBytes=50\n");
    expect(await asked("-c", "main", "-f")).toBe("main follow=true\n");
    expect(await asked("--all-containers")).toMatch(/^main \n\S*side \n$|^side \n\S*main \n$/);
    expect(await asked("-c", "nobody")).toMatch(/container nobody is not valid/);
  });

  it("follows a log while it is written, and ends the reading on the worker when its reader goes", async () => {
    const at = await running("followed");
    let ended = false;
    kubelet.serve(at.mapped, async (_, response) => {
      response.on("close", () => {
        ended = true;
      });
      for (let line = 1; !ended; line++) {
        response.write(`line ${line}\n`);
        await delay(50);
      }
    });
    // kubectl ends by itself when the timeout of its request does.
    const { stdout } = await logs(at, "-c", "main", "-f", "--request-timeout=3s");
    expect(stdout).toMatch(/^line 1\nline 2\nline 3\n/);
    await fleet.until("nobody reads on the worker", async () => ended);
  });

  it("brings 50 MB of arbitrary bytes exactly, and Redis never sees one of them", async () => {
    const at = await running("binary");
    const block = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 7919) % 251));
    block.write("needle in the log");
    const hash = createHash("sha256");
    kubelet.serve(at.mapped, async (_, response) => {
      for (let times = 0; times < 50; times++) {
        hash.update(block);
        if (!response.write(block)) await new Promise((resolve) => response.once("drain", resolve));
      }
      response.end();
    });
    const seen: boolean[] = [];
    const looking = (async () => {
      for (let look = 0; look < 50; look++) {
        const pieces = await fleet.redis.lrangeBuffer("{jobferry-east}:log-frames", 0, 3);
        seen.push(pieces.some((piece) => piece.includes("needle")));
      }
    })();
    const [podName = ""] = (await fleet.hub.kubectl("get", "pods", "-n", at.name, "-o", "name")).stdout.split("\n");
    const name = podName.replace("pod/", "");
    const { api } = await openClient({ kubeconfig: fleet.hub.kubeconfigPath }, {}, {});
    const key = { namespace: at.name, name };
    const received = createHash("sha256");
    let bytes = 0;
    for await (const chunk of await api.readLog(key, { container: "main" }, AbortSignal.timeout(60_000))) {
      received.update(chunk);
      bytes += chunk.length;
    }
    await looking;
    await api.close();
    expect(received.digest("hex")).toBe(hash.digest("hex"));
    expect(seen).not.toContain(true);
    expect(bytes).toBe(50_000_000);
  });

  it("says in words what is the matter with a pod that has not started", async () => {
    const at = await fleet.namespace("waiting");
    await at.submit("pi", { annotations: { "jobferry.dev/cluster-selector": "name=nowhere" } });
    await fleet.until("the Job's pod says why it waits", async () => {
      const { items } = await fleet.hub.api.list(pods, { namespace: at.name, labelSelector: SHADOW_LABEL });
      return items.some(({ status }) => (status?.conditions?.length ?? 0) > 0);
    });
    expect((await logs(at)).stderr).toMatch(/waiting to start: .*cluster selector does not match/);
  });

  it("says that exec has to go elsewhere", async () => {
    const at = await running("elsewhere");
    const [pod = ""] = (await fleet.hub.kubectl("get", "pods", "-n", at.name, "-o", "name")).stdout.split("\n");
    const { code, stderr } = await fleet.hub.kubectl("exec", pod, "-n", at.name, "-c", "main", "--", "true");
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/does not reach a pod on a worker/);
  });
});

describe("the kubelet endpoint refuses", () => {
  const ask = async (certificate?: Certificate): Promise<string> => {
    const { status } = await fleet.hub.api.get(nodes, { name: "jobferry" });
    const { daemonEndpoints } = status as { daemonEndpoints: { kubeletEndpoint: { Port: number } } };
    const { Port: port } = daemonEndpoints.kubeletEndpoint;
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: "127.0.0.1", port, path: "/containerLogs/default/x/main", rejectUnauthorized: false, ...certificate },
        (response) => {
          response.resume();
          response.on("end", () => resolve(String(response.statusCode)));
        },
      );
      sent.on("error", reject);
      sent.end();
    });
  };

  it("whoever has no certificate, one of another authority, or one of somebody without the right", async () => {
    const others = await clientCertificate(await certificateAuthority("others"), "kube-apiserver", "system:masters");
    const user = await clientCertificate(authority, "jane", "developers");
    const admin = await clientCertificate(authority, "admin", "system:masters");
    expect(await ask()).toBe("401");
    expect(await ask(others)).toBe("401");
    expect(await ask(user)).toBe("403");
    // Known, and allowed to: there is no such pod.
    expect(await ask(admin)).toBe("400");
  });
});

describe("a log that is followed does not hang", () => {
  it.each([
    [
      "when the agent is killed, and says so",
      "east",
      /^first\n\njobferry: the log breaks off here: the agent of cluster east/,
    ],
    ["when the manager is", "manager", /^first\n$/],
  ])(
    "%s",
    async (_, who, expected) => {
      const at = await running(`killed-${who}`);
      const reading = Promise.withResolvers<void>();
      kubelet.serve(at.mapped, (__, response) => {
        response.write("first\n");
        reading.resolve();
      });
      const following = logs(at, "-c", "main", "-f");
      await reading.promise;
      // The line has to be on the hub's side before that side dies.
      await delay(1_000);
      await fleet.kill(who);
      const { stdout } = await following;
      if (who === "east") fleet.startAgent("east");
      else fleet.startManager();
      expect(stdout).toMatch(expected);
    },
    90_000,
  );
});
