/**
 * `jobferry logs` on a hub that shows no pods, with the roles, the policy and the Service of deploy/hub: kube-apiserver decides who
 * may, and hands the request to the manager. Pods stand in for the managers, which are processes of this machine.
 */
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hashOf, logReadings, newTicket } from "@jobferry/shared/api/log-readings.ts";
import type { PodTemplate } from "@jobferry/shared/job/types.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CommandResult, runCommand } from "../../harness/run-command.ts";
import { type FleetNamespace, forever } from "../dispatch/fleet-namespace.ts";
import { RealFleet } from "../dispatch/real-fleet.ts";
import { type StandInKubelet, standInKubelet } from "./stand-in-kubelet.ts";

/** API servers refuse to pass requests on to the loopback address. */
const host = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

const fleet = new RealFleet({
  workers: ["east"],
  managerFlags: [`--logs-host=${host ?? "127.0.0.1"}`, "--logs-port=0"],
  agentFlags: ["--retention-seconds", "600"],
  hubApiServer: {
    controllers: ["garbage-collector-controller", "endpoints-controller", "endpointslice-controller"].concat(
      "clusterrole-aggregation-controller",
    ),
  },
});
let kubelet: StandInKubelet;

beforeAll(async () => {
  if (host === undefined) return;
  await fleet.start();
  kubelet = await standInKubelet(fleet.worker("east"), "instant");
  await stand("manager");
}, 300_000);
afterAll(async () => {
  await fleet.stop();
  await kubelet?.stop();
});
beforeEach(({ skip }) => skip(host === undefined, "this machine has no address but the loopback one"));

/** A pod of the manager's Deployment, at the address of this process. */
async function stand(name: string): Promise<void> {
  let port = 0;
  await fleet.until(`${name} serves logs`, async () => {
    port = Number(/"logsPort":(\d+)/.exec(await fleet.log(name))?.[1] ?? 0);
    return port > 0;
  });
  const key = { namespace: "jobferry-system", name };
  const deployed = await fleet.hub.kubectl(
    ...["get", "deployment", "jobferry-manager", "-n", key.namespace, "-o", "jsonpath={.spec.template}"],
  );
  const { metadata, spec } = JSON.parse(deployed.stdout) as PodTemplate;
  for (const container of spec.containers) container.ports = [{ name: "logs", containerPort: port }];
  await fleet.hub.api.delete(pods, key, { gracePeriodSeconds: 0 }).catch(() => {});
  await fleet.hub.api.create(pods, key.namespace, {
    metadata: { name, labels: metadata?.labels ?? {} },
    spec: { ...spec, nodeName: "somewhere" },
  });
  const conditions = [{ type: "Ready", status: "True" as const }];
  const body = { status: { phase: "Running", podIP: host, podIPs: [{ ip: host }], conditions } };
  await fleet.hub.api.patch(pods, key, { type: "merge", body }, { subresource: "status" });
}

const JOBS = { apiGroups: ["batch"], resources: ["jobs"], verbs: ["get", "list"] };
const PODS = { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] };
const LOGS = { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] };
const READINGS = { apiGroups: ["jobferry.dev"], resources: ["logreadings"], verbs: ["create"] };

/** Somebody with these rights in a namespace, at the command line. */
async function somebody(name: string, namespace: string, rules: object[]) {
  const kubeconfig = await fleet.hub.serviceAccount({ name, namespace, rules: rules as [] });
  return {
    kubeconfig,
    logs: (...args: string[]): Promise<CommandResult> =>
      runCommand(process.execPath, [
        join(import.meta.dirname, "../../../cli/main.ts"),
        ...["logs", ...args, "--kubeconfig", kubeconfig],
      ]),
  };
}

/** A namespace with a Job `pi` of three indexes that run. */
async function running(name: string): Promise<FleetNamespace> {
  const at = await fleet.namespace(name);
  await at.submit("pi", { spec: { completions: 3, parallelism: 3, completionMode: "Indexed" }, pod: forever });
  await at.until("the Job's pods run", async () => (await at.pods("pi")).length === 3);
  kubelet.serve(at.mapped, ({ container, query }, response) => {
    response.end(`${container} of ${name} ${query}\n`);
  });
  return at;
}

describe("who may read logs in a namespace", () => {
  it("reads them of a Job whose pods the hub does not show: one pod, an index, all of them, as they are written", async () => {
    const at = await running("team");
    expect((await fleet.hub.api.list(pods, { namespace: at.name })).items).toEqual([]);
    const { logs } = await somebody("ann", at.name, [JOBS, PODS, LOGS, READINGS]);
    expect(await logs("pi")).toMatchObject({ code: 0, stdout: "main of team \n" });
    expect((await logs("pi", "--index", "1", "--tail", "2")).stdout).toMatch(
      /^\[pi-1-\S+ 1\] main of team tailLines=2\n$/,
    );
    expect((await logs("pi", "--all")).stdout).toMatch(
      /^\[pi-0-\S+ 0\] main of team \n\[pi-1-\S+ 1\] main of team \n\[pi-2-\S+ 2\] main of team \n$/,
    );
    kubelet.serve(at.mapped, async (_, response) => {
      for (const line of ["one", "two", "three"]) {
        response.write(`${line}\n`);
        await delay(300);
      }
      response.end();
    });
    expect((await logs("pi", "--index", "0", "--follow")).stdout).toMatch(/one\n\[.*two\n\[.*three\n$/);
    expect(await logs("pi", "--index", "7")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no pod of index 7/),
    });
    expect(await logs("pi", "--container", "nobody")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/container nobody is not valid/),
    });
  });

  it("has role view, as it is shipped", async () => {
    const at = await running("viewed");
    const { logs, kubeconfig } = await somebody("viewer", at.name, []);
    expect((await logs("pi")).stderr).toMatch(/cannot get resource "jobs"/);
    await fleet.hub.kubectl(
      ...["create", "rolebinding", "view", "-n", at.name, "--clusterrole=view"],
      `--serviceaccount=${at.name}:viewer`,
    );
    await fleet.until("the role has been put together", async () => (await logs("pi")).code === 0);
    expect(kubeconfig).not.toBe("");
  });

  it("is told why there is no log: no cluster yet, not one of ours", async () => {
    const at = await fleet.namespace("nothing");
    const { logs } = await somebody("ann", at.name, [JOBS, PODS, LOGS, READINGS]);
    await at.submit("waits", { annotations: { "jobferry.dev/cluster-selector": "name=nowhere" } });
    await at.until("it says why", async () => {
      return (await at.job("waits"))?.metadata.annotations?.["jobferry.dev/message"] !== undefined;
    });
    expect((await logs("waits")).stderr).toMatch(/Job waits has no cluster yet.*cluster selector does not match/);
    await fleet.hub.kubectl("create", "job", "own", "-n", at.name, "--image=none");
    expect((await logs("own")).stderr).toMatch(/not one that Jobferry runs/);
  });
});

describe("nobody else does", () => {
  it("without the right to logs, though everything else is allowed", async () => {
    const at = await running("closed");
    const { logs } = await somebody("bob", at.name, [JOBS, PODS, READINGS]);
    const { code, stdout, stderr } = await logs("pi");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/may not read logs of namespace closed.*may get pods\/log there/);
  });

  it("of another namespace, with the rights of its own", async () => {
    const [own, other] = [await running("mine"), await running("yours")];
    const eve = await somebody("eve", own.name, [JOBS, PODS, LOGS, READINGS]);
    expect((await eve.logs("pi")).code).toBe(0);
    expect((await eve.logs("pi", "--namespace", other.name)).stderr).toMatch(/cannot get resource "jobs"/);
    // The ticket of one LogReading does not open another, wherever its Job is.
    const ticket = newTicket();
    const make = (namespace: string, ticketHash: string) =>
      fleet.hub.api.create(logReadings, namespace, {
        ...{ apiVersion: "jobferry.dev/v1alpha1", kind: "LogReading", metadata: { name: "reading" } },
        spec: { job: "pi", ticketHash },
      });
    await make(own.name, hashOf(ticket));
    await make(other.name, hashOf(newTicket()));
    const ask = (namespace: string, header?: string) => {
      const path = `/api/v1/namespaces/jobferry-system/services/https:jobferry-manager-logs:logs/proxy/readings/${namespace}/reading/pods`;
      return fleet.hub.request(path, header === undefined ? {} : { headers: { "x-jobferry-ticket": header } });
    };
    expect((await ask(own.name, ticket)).status).toBe(200);
    expect((await ask(other.name, ticket)).status).toBe(403);
    expect((await ask(own.name, newTicket())).status).toBe(403);
    // Even an administrator needs a ticket.
    expect((await ask(own.name)).status).toBe(401);
    await expect(
      fleet.hub.api.patch(
        logReadings,
        { namespace: own.name, name: "reading" },
        { type: "merge", body: { spec: { job: "other" } } },
      ),
    ).rejects.toThrow(/cannot be changed/);
  });
});

describe("managers come and go", () => {
  it("one that stands by is passed over; when none is left, that is said", async () => {
    const at = await running("away");
    const { logs } = await somebody("ann", at.name, [JOBS, PODS, LOGS, READINGS]);
    fleet.startManager("standby");
    await stand("standby");
    for (let time = 0; time < 3; time++) expect((await logs("pi")).stdout).toBe("main of away \n");
    await fleet.kill("manager");
    await fleet.hub.kubectl("delete", "pod", "manager", "-n", "jobferry-system", "--force", "--grace-period=0");
    await fleet.until("the other leads, and reads logs", async () => (await logs("pi")).stdout === "main of away \n");
    await fleet.kill("standby");
    const { code, stderr } = await logs("pi");
    expect(code).toBe(2);
    expect(stderr).toMatch(/no manager answers .*kubectl get pods -n jobferry-system/);
    fleet.startManager();
    await stand("manager");
  }, 180_000);
});
