/** What a container on a real node of the worker sees of the hub's ConfigMaps and Secrets: contents, paths and modes. */
import { jobQueues } from "@jobferry/shared/api/fleet-resources.ts";
import { configMaps, secrets } from "@jobferry/shared/kube/resources.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { LocalCluster } from "../../harness/real-cluster.ts";
import { outputOf } from "../../harness/run-command.ts";
import { type RealNode, realNode } from "../../real-node/real-node.ts";
import { realNodesMissing } from "../../real-node/requirements.ts";
import { RealFleet } from "./real-fleet.ts";
import { allowSecrets, sealed } from "./reference-fleet.ts";

const missing = await realNodesMissing();
beforeEach(({ skip }) => skip(missing !== undefined, missing));

const fleet = new RealFleet({
  workers: ["east"],
  agentFlags: ["--accept-references=configmaps,secrets"],
  realNodes: true,
});
let node: RealNode | undefined;
beforeAll(async () => {
  if (missing !== undefined) return;
  await fleet.start();
  node = await realNode(fleet.worker("east") as LocalCluster, { name: "references" });
  await outputOf(fleet.worker("east").kubectl("apply", "-f", "deploy/worker/secrets.yaml"));
  await fleet.hub.api.create(jobQueues, undefined, {
    apiVersion: "jobferry.dev/v1alpha1",
    kind: "JobQueue",
    metadata: { name: "sealed" },
    spec: { references: { secrets: "Copy" } },
  });
}, 300_000);
afterAll(async () => {
  await node?.stop();
  await fleet.stop();
});

const LOOK = [
  'echo "env $GREETING $PASSWORD $S_mode"',
  'echo "absent [$ABSENT]"',
  "cat /etc/words/greeting; echo; stat -L -c %a /etc/words/greeting; od -An -tx1 /etc/words/bytes",
  "cat /etc/login/deep/pw; echo; stat -L -c %a /etc/login/deep/pw; ls /etc/login",
  "cat /etc/both/greeting /etc/both/password; echo",
  "cat /etc/single; echo; stat -c %F /etc/single",
  "ls /etc/none | wc -l",
].join("; ");

it("env, envFrom, volumes with modes and items, projected, subPath, and an optional one that is missing", async () => {
  const at = await fleet.namespace("mounted");
  await allowSecrets(fleet, at);
  const { api } = fleet.hub;
  await api.create(configMaps, at.name, {
    ...{ metadata: { name: "words" }, data: { greeting: "hello" } },
    binaryData: { bytes: Buffer.from([0, 255]).toString("base64") },
  });
  await api.create(configMaps, at.name, { metadata: { name: "settings" }, data: { mode: "fast" } });
  const password = Buffer.from("secret").toString("base64");
  await api.create(secrets, at.name, { metadata: { name: "login" }, data: { password } });
  const mount = (name: string, mountPath: string, subPath?: string) => ({
    ...{ name, mountPath },
    ...(subPath === undefined ? {} : { subPath }),
  });
  const main = {
    ...{ name: "main", image: "busybox:1", command: ["sh", "-c", LOOK] },
    env: [
      { name: "GREETING", valueFrom: { configMapKeyRef: { name: "words", key: "greeting" } } },
      { name: "PASSWORD", valueFrom: { secretKeyRef: { name: "login", key: "password" } } },
      { name: "ABSENT", valueFrom: { secretKeyRef: { name: "absent", key: "k", optional: true } } },
    ],
    envFrom: [{ prefix: "S_", configMapRef: { name: "settings" } }],
    volumeMounts: [
      ...[mount("words", "/etc/words"), mount("login", "/etc/login"), mount("both", "/etc/both")],
      ...[mount("words", "/etc/single", "greeting"), mount("none", "/etc/none")],
    ],
  };
  const volumes = [
    { name: "words", configMap: { name: "words", defaultMode: 0o440 } },
    { name: "login", secret: { secretName: "login", items: [{ key: "password", path: "deep/pw", mode: 0o400 }] } },
    { name: "both", projected: { sources: [{ configMap: { name: "words" } }, { secret: { name: "login" } }] } },
    { name: "none", configMap: { name: "absent", optional: true } },
  ];
  await at.submit("look", { labels: sealed, pod: { spec: { containers: [main], volumes } } });
  expect((await at.untilFinished("look")).status?.succeeded).toBe(1);
  const said = await outputOf(fleet.worker("east").kubectl("logs", "job/look", "-n", at.name));
  expect(said.trimEnd().split("\n")).toEqual([
    ...["env hello secret fast", "absent []"],
    ...["hello", "440", " 00 ff"],
    ...["secret", "400", "deep"],
    "hellosecret",
    ...["hello", "regular file"],
    "0",
  ]);
});
