/** Section C of the scenarios: what the programs say when they are told something wrong. Their exit code is tested on processes. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCluster } from "@jobferry/cli/cluster/command.ts";
import type { ClusterVerb } from "@jobferry/cli/cluster/flags.ts";
import { runUp } from "@jobferry/cli/up/command.ts";
import { readManagerConfig, runManager } from "@jobferry/manager/service.ts";
import { formatPrivateKey, generateKeyPair } from "@jobferry/shared/protocol/keys.ts";
import { readJobsConfig, runJobs } from "@jobferry/worker-agent/jobs-command.ts";
import { readStartConfig, runStart } from "@jobferry/worker-agent/start-command.ts";
import { afterAll, describe, expect, it } from "vitest";

const directory = mkdtempSync(join(tmpdir(), "jobferry-configuration-"));
afterAll(() => rmSync(directory, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}
const kubeconfig = (name: string, server: string, user: object = { token: "t" }): string =>
  file(
    name,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "u", user }],
    }),
  );
/** Nothing listens on port 1. */
const refused = kubeconfig("refused", "https://127.0.0.1:1");
const noUrl = kubeconfig("no-url", "nowhere");
const noPlugin = kubeconfig("no-plugin", "https://127.0.0.1:1", {
  exec: { apiVersion: "client.authentication.k8s.io/v1", command: "no-such-plugin" },
});
const torn = file("torn", "{ clusters: [");
const missing = join(directory, "missing");
const oldKey = file("old.pem", formatPrivateKey(generateKeyPairSync("ed25519").privateKey));
const keyFile = file("key.pem", formatPrivateKey(generateKeyPair().privateKey));
const notKey = file("not-key.pem", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
const managerKey = generateKeyPair().publicKey.text;
const enrolled = { keyFile, managerKey, cluster: "east" };
const redisUrl = "redis://redis";

type Flags = Record<string, string | boolean | string[]>;
const manager = (flags: Flags, env = {}) => runManager(readManagerConfig({ flags, env }), env);
const start = (flags: Flags, env = {}) => runStart(readStartConfig({ flags, env }), env);
const jobs = (flags: Flags, env = {}) => runJobs(readJobsConfig({ flags, env }), env);
const clusterFrom = (path: string) => runCluster("list", undefined, { flags: {}, env: {}, file: path }, () => {});
const cluster = (verb: ClusterVerb, name: string, flags: Flags) => runCluster(verb, name, { flags, env: {} }, () => {});
const up = (flags: Flags) => runUp({ flags, env: {} }, { print: () => {} });

const noName = /the cluster name is not a DNS label; use 1 to 63 lower case letters/;
const noAnswer =
  /^https:\/\/127.0.0.1:1 does not answer .*ECONNREFUSED.*check the server and the credentials of --kube/;
const cases: Record<string, [act: () => Promise<unknown>, says: RegExp]> = {
  "manager: no key": [() => manager({}), /^--key-file is missing \(the manager's X25519 private key/],
  "manager: an unknown field": [() => manager({ keyFile, frob: "1" }), /^--frob: no such field; there are kubeco/],
  "manager: a port that is a word": [() => manager({ keyFile, metricsPort: "http" }), /^--metrics-port: /],
  "manager: a negative bound in a variable": [
    () => manager({ keyFile }, { JOBFERRY_DELETION_BOUND_SECONDS: "-1" }),
    /^JOBFERRY_DELETION_BOUND_SECONDS: /,
  ],
  "manager: a key file that is not there": [
    () => manager({ keyFile: missing }),
    /^--key-file .*missing cannot be used: .*cannot read/,
  ],
  "manager: a key of the time when messages were signed": [
    () => manager({ keyFile: oldKey }),
    /^--key-file .*old.pem cannot be used: .*ed25519; make the manager's with `openssl genpkey -algorithm x25519`/,
  ],
  "manager: a key file with something else": [() => manager({ keyFile: notKey }), /cannot be used: .*PKCS#8 in/],
  "manager: a kubeconfig that is not there": [
    () => manager({ keyFile, kubeconfig: missing }),
    /^kubeconfig .*missing cannot be read: give the path of one that can/,
  ],
  "manager: an API server that is not there": [() => manager({ keyFile, kubeconfig: refused }), noAnswer],
  "start: nothing": [() => start({}), /^--cluster is missing .*--key-file is missing .*--manager-key is missing/],
  "start: a name with a colon": [() => start({ ...enrolled, cluster: "a:b" }), noName],
  "start: dots for a name": [() => start({ ...enrolled, cluster: ".." }), noName],
  "start: a time that is a word": [() => start({ ...enrolled, retentionSeconds: "soon" }), /^--retention-seconds: /],
  "start: a controller there is not": [
    () => start({ ...enrolled, controller: "both" }),
    /^--controller: .*who runs the/,
  ],
  "start: a manager key that is none": [
    () => start({ ...enrolled, managerKey: "short" }),
    /^--manager-key: .*32 bytes/,
  ],
  "start: a torn kubeconfig": [() => start({ ...enrolled, kubeconfig: torn }), /^kubeconfig .*torn is not YAML/],
  "start: an API server that is not there": [() => start({ ...enrolled, kubeconfig: refused }), noAnswer],
  "jobs: a server that is not a URL": [
    () => jobs({ unmanaged: true, kubeconfig: noUrl }),
    /^kubeconfig .*no-url: the server "nowhere" of cluster "c" must be https:/,
  ],
  "jobs: a plugin that is not there": [
    () => jobs({ unmanaged: true, kubeconfig: noPlugin }),
    /127.0.0.1:1 does not answer .*no credentials: .*no-such-plugin.*check the server and the credentials/,
  ],
  "jobs: a context there is not": [
    () => jobs({ unmanaged: true, kubeconfig: refused, context: "x" }),
    /has no context "x": choose one of c/,
  ],
  "jobs: an API server that is not there": [() => jobs({ unmanaged: true, kubeconfig: refused }), noAnswer],
  "cluster add: no Redis": [() => cluster("add", "east", {}), /^--redis-url is missing/],
  "cluster add: a Redis with a user": [() => cluster("add", "east", { redisUrl: "redis://u@r" }), /without a user/],
  "cluster add: a name with an asterisk": [() => cluster("add", "c*", { redisUrl }), noName],
  "cluster add: a key that is none": [() => cluster("add", "east", { redisUrl, managerKey: "x" }), /^--manager-key: /],
  "cluster add: labels that are none": [
    () => cluster("add", "east", { redisUrl, labels: "a" }),
    /"a" is not key=value/,
  ],
  "cluster drain: an empty name": [() => cluster("drain", "", {}), noName],
  "cluster forget: a name too long": [() => cluster("forget", "x".repeat(300), {}), noName],
  "cluster list: a format there is not": [
    () => cluster("list", "", { output: "xml" }),
    /^--output: .*json for programs/,
  ],
  "cluster list: an API server that is not there": [() => cluster("list", "", { kubeconfig: refused }), noAnswer],
  "cluster list: a key in the file that is not known": [
    () => clusterFrom(file("typo.yaml", "kubeConfig: k\n")),
    /^kubeConfig in .*typo.yaml: no such field, did you mean kubeconfig\?/,
  ],
  "cluster list: a file that is not there": [() => clusterFrom(missing), /^configuration file .*missing cannot be re/],
  "up: a number of workers that is a word": [() => up({ workers: "many" }), /^--workers: .*worker clusters beside the/],
  "up: too many workers": [() => up({ workers: "21" }), /^--workers: /],
  "up: a port there is not": [() => up({ portBase: "99999" }), /^--port-base: /],
  "up: a time that is a word": [() => up({ exitAfter: "soon" }), /^--exit-after: must be a time such as 30s or 5m/],
  "up: a format there is not": [() => up({ output: "xml" }), /^--output: /],
  "up: --exit alone": [() => up({ exit: true }), /^--exit: goes with --demo/],
  "up: a demo with one worker": [() => up({ demo: true, workers: "1" }), /^--demo: needs --workers 2 or more/],
  "up: a Redis that is not an URL": [() => up({ redis: "localhost" }), /^--redis: must begin with redis:\/\//],
  "up: a worker without a hub": [() => up({ worker: ["east=k"] }), /^--worker: goes with --hub/],
  "up: a hub without a worker": [() => up({ hub: "k" }), /^--hub: needs a --worker NAME=KUBECONFIG/],
  "up: a worker without a kubeconfig": [
    () => up({ hub: "k", worker: ["east"] }),
    /^--worker: "east" must be NAME=KUBECONFIG/,
  ],
  "up: a worker with a bad name": [
    () => up({ hub: "k", worker: ["East=k"] }),
    /^--worker: the cluster name is not a D/,
  ],
  "up: a worker twice": [() => up({ hub: "k", worker: ["a=k", "a=k"] }), /^--worker: a is given twice/],
  "up: a kubeconfig that is not there": [
    () => up({ hub: missing, worker: ["a=k"] }),
    /^--hub: kubeconfig .*missing cannot be read/,
  ],
  "up: --dry-run alone": [() => up({ dryRun: true }), /^--dry-run: goes with --hub/],
  "up: a directory that cannot be used": [() => up({ dir: "/proc/nowhere" }), /^--dir: \/proc\/nowhere cannot be used/],
};

describe("one sentence that names the field and the fix, for exit code 2", () => {
  it.each(Object.entries(cases))("%s", async (_, [act, says]) => {
    const error: unknown = await (async () => act())().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(says) });
    expect(String(error)).not.toContain("\n");
  });
});
