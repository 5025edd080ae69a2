/** Stock kubectl on a cluster that runs pods as local processes: what a person does in the first five minutes. */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServedSandbox, sandboxCluster } from "../harness/sandbox-cluster.ts";

let cluster: ServedSandbox;

beforeAll(async () => {
  cluster = await sandboxCluster({ name: "smoke", kubelet: "process" });
});
afterAll(() => cluster?.stop());

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

async function manifest(name: string, text: string): Promise<string> {
  const path = join(dirname(cluster.kubeconfigPath), name);
  await writeFile(path, text);
  return path;
}

const podManifest = (name: string, script: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: smoke}}
spec:
  restartPolicy: Never
  containers:
    - {name: main, image: busybox, command: [sh, -c, "${script}"]}
`;

describe("kubectl", () => {
  it("runs a pod, waits for it, and reads what it printed", async () => {
    const file = await manifest("pod.yaml", podManifest("hello", "echo one; echo two"));
    expect(await kubectl("apply", "-f", file)).toBe("pod/hello created\n");
    expect(await kubectl("apply", "-f", file)).toBe("pod/hello unchanged\n");
    await kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/hello", "--timeout=60s");
    expect(await kubectl("logs", "hello")).toBe("one\ntwo\n");
    expect(await kubectl("logs", "hello", "--tail=1")).toBe("two\n");
    expect(await kubectl("get", "pods", "hello")).toMatch(/hello +0\/1 +Completed +0/);
    expect(await kubectl("describe", "pod", "hello")).toContain("Exit Code:    0");
  });

  it("follows the output of a pod that is still running, and deletes it", async () => {
    await kubectl(
      "run",
      "talk",
      "--image=busybox",
      "--restart=Never",
      "--",
      "sh",
      "-c",
      "echo begin; sleep 1; echo end",
    );
    await kubectl("wait", "--for=condition=Ready", "pod/talk", "--timeout=60s");
    expect(await kubectl("logs", "-f", "talk")).toBe("begin\nend\n");
    await kubectl("delete", "pod", "talk", "--timeout=60s");
    expect((await cluster.kubectl("get", "pod", "talk")).stderr).toContain('pods "talk" not found');
  });

  it("makes objects with its typed commands, which speak protobuf", async () => {
    expect(await kubectl("create", "namespace", "typed")).toBe("namespace/typed created\n");
    expect(await kubectl("create", "job", "j", "-n", "typed", "--image=busybox", "--", "true")).toBe(
      "job.batch/j created\n",
    );
    expect(await kubectl("create", "configmap", "c", "-n", "typed", "--from-literal=a=b")).toBe(
      "configmap/c created\n",
    );
    const parallelism = await kubectl("get", "job", "j", "-n", "typed", "-o", "jsonpath={.spec.parallelism}");
    expect(parallelism).toBe("1");
    expect(await kubectl("label", "job", "j", "-n", "typed", "team=a")).toContain("labeled");
    expect(await kubectl("patch", "job", "j", "-n", "typed", "-p", '{"spec":{"suspend":true}}')).toContain("patched");
    expect(await kubectl("get", "jobs", "-n", "typed", "-l", "team=a")).toContain("0/1");
    await kubectl("delete", "namespace", "typed", "--timeout=60s");
  });

  it("drains a node through the eviction API", async () => {
    const file = await manifest("stay.yaml", podManifest("stay", "sleep 600"));
    await kubectl("apply", "-f", file);
    await kubectl("wait", "--for=condition=Ready", "pod/stay", "--timeout=60s");
    await kubectl("drain", "smoke-node-1", "--force", "--grace-period=1", "--timeout=60s");
    expect((await cluster.kubectl("get", "pod", "stay")).code).not.toBe(0);
    expect(await kubectl("get", "nodes")).toContain("Ready,SchedulingDisabled");
    await kubectl("uncordon", "smoke-node-1");
  });

  it("applies on the server, and says who owns what another manager set", async () => {
    const text = (value: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\ndata: {a: "${value}"}\n`;
    const file = await manifest("shared.yaml", text("1"));
    await kubectl("apply", "--server-side", "--field-manager=one", "-f", file);
    await manifest("shared.yaml", text("2"));
    const refused = await cluster.kubectl("apply", "--server-side", "--field-manager=two", "-f", file);
    expect(refused.stderr).toContain('conflict with "one"');
    await kubectl("apply", "--server-side", "--field-manager=two", "--force-conflicts", "-f", file);
    expect(await kubectl("get", "configmap", "shared", "-o", "jsonpath={.data.a}")).toBe("2");
  });

  it("explains fields and warns about mistakes", async () => {
    expect(await kubectl("explain", "job.spec.parallelism")).toContain("FIELD: parallelism <integer>");
    const file = await manifest(
      "typo.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatta: {a: b}\n",
    );
    expect((await cluster.kubectl("create", "-f", file)).stderr).toContain('unknown field "datta"');
  });
});
