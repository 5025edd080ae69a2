import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError } from "../runtime/config-error.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { findAccess, kubeconfigAccess, serviceAccountAccess } from "./access.ts";

const dir = mkdtempSync(join(tmpdir(), "jobferry-access-"));
afterAll(() => rmSync(dir, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (name: string, text: string): string => {
  const path = join(dir, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
};

interface Parts {
  name?: string;
  cluster?: object;
  user?: object | null;
  current?: string | null;
}
const kubeconfig = ({ name = "c", cluster = {}, user = {}, current = name }: Parts = {}): string =>
  JSON.stringify({
    clusters: [{ name, cluster: { server: "https://127.0.0.1:6443/", ...cluster } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "team" } }],
    ...(current === null ? {} : { "current-context": current }),
  });

test("a token", () => {
  const access = kubeconfigAccess(
    kubeconfig({ user: { token: "secret" }, cluster: { "insecure-skip-tls-verify": true } }),
  );
  expect(access).toMatchObject({
    server: "https://127.0.0.1:6443",
    namespace: "team",
    tls: { rejectUnauthorized: false },
  });
  expect(access.credentials.current()).toEqual({ headers: { authorization: "Bearer secret" } });
});

test("client certificates in place, and a certificate authority", () => {
  const access = kubeconfigAccess(
    kubeconfig({
      cluster: { "certificate-authority-data": base64("CA"), "tls-server-name": "kubernetes" },
      user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") },
    }),
  );
  expect(access.tls).toEqual({ ca: "CA", servername: "kubernetes" });
  expect(access.credentials.current()).toEqual({ headers: {}, cert: "CERT", key: "KEY" });
});

test("paths are relative to the kubeconfig", () => {
  file("rel/ca.crt", "CA");
  file("rel/token", "from-file\n");
  const path = file(
    "rel/config",
    kubeconfig({ cluster: { "certificate-authority": "ca.crt" }, user: { tokenFile: "token", token: "in-place" } }),
  );
  const access = findAccess({ kubeconfig: path });
  expect(access.tls.ca).toBe("CA");
  expect(access.credentials.current()).toEqual({ headers: { authorization: "Bearer from-file" } });
});

test("user name and password", () => {
  const { credentials } = kubeconfigAccess(kubeconfig({ user: { username: "u", password: "p" } }));
  expect(credentials.current()).toEqual({ headers: { authorization: `Basic ${base64("u:p")}` } });
});

test("impersonation is never left out", () => {
  const user = { token: "t", as: "jane", "as-groups": ["a", "b"], "as-uid": "7", "as-user-extra": { "X/y": ["1"] } };
  expect(kubeconfigAccess(kubeconfig({ user })).credentials.current()).toEqual({
    headers: {
      authorization: "Bearer t",
      "impersonate-user": "jane",
      "impersonate-group": ["a", "b"],
      "impersonate-uid": "7",
      "impersonate-extra-x%2Fy": ["1"],
    },
  });
});

test("an exec plugin is asked through client-node, and again after a refusal", async () => {
  const answer = (token: string): string =>
    `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"${token}"}}`;
  const token = file("plugin-token", answer("first"));
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "cat", args: [token] };
  const { credentials } = kubeconfigAccess(kubeconfig({ user: { exec, as: "jane" } }));
  const first = await credentials.current();
  expect(first.headers).toEqual({ authorization: "Bearer first", "impersonate-user": "jane" });
  writeFileSync(token, answer("second"));
  expect((await credentials.current()).headers.authorization).toBe("Bearer first");
  credentials.refresh();
  expect((await credentials.current()).headers.authorization).toBe("Bearer second");
});

test("a failing exec plugin rejects, and is tried again the next time", async () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./no-such-plugin" };
  const { credentials } = kubeconfigAccess(kubeconfig({ user: { exec } }), { baseDir: dir });
  await expect(credentials.current()).rejects.toThrow(join(dir, "no-such-plugin"));
  await expect(credentials.current()).rejects.toThrow("ENOENT");
});

test("in a pod: address, namespace and a token that follows its file", async () => {
  const clock = new VirtualClock();
  const account = join(dir, "account");
  file("account/ca.crt", "CA");
  file("account/namespace", "jobs\n");
  const token = file("account/token", "one");
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
  const access = serviceAccountAccess({ env, dir: account, clock });
  expect(access).toMatchObject({ server: "https://[fd00::1]:6443", namespace: "jobs", tls: { ca: "CA" } });
  const bearer = async () => (await access.credentials.current()).headers.authorization;
  expect(await bearer()).toBe("Bearer one");
  writeFileSync(token, "second");
  expect(await bearer()).toBe("Bearer one");
  await clock.advance(10_000);
  expect(await bearer()).toBe("Bearer second");
  writeFileSync(token, "third");
  access.credentials.refresh();
  expect(await bearer()).toBe("Bearer third");
  rmSync(token);
  await clock.advance(10_000);
  expect(await bearer()).toBe("Bearer third");
});

test("of several files in KUBECONFIG the first that names a thing wins; missing ones are skipped", () => {
  const one = file("one", kubeconfig({ name: "one", user: { token: "t1" }, current: null }));
  const two = file("two", kubeconfig({ name: "two", user: { token: "t2" } }));
  const env = { KUBECONFIG: [one, join(dir, "missing"), two].join(":") };
  expect(findAccess({ env }).credentials.current()).toEqual({ headers: { authorization: "Bearer t2" } });
  expect(findAccess({ env, context: "one" }).credentials.current()).toEqual({
    headers: { authorization: "Bearer t1" },
  });
});

test("without anything else ~/.kube/config is used", () => {
  file("home/.kube/config", kubeconfig({ user: { token: "home" } }));
  const { credentials } = findAccess({ env: { HOME: join(dir, "home") } });
  expect(credentials.current()).toEqual({ headers: { authorization: "Bearer home" } });
});

const refused: [string, () => unknown, RegExp][] = [
  ["a missing file", () => findAccess({ kubeconfig: join(dir, "nowhere") }), /nowhere cannot be read/],
  ["nothing to be found", () => findAccess({ env: {} }), /give --kubeconfig/],
  ["no YAML", () => kubeconfigAccess("a: [1"), /is not YAML/],
  ["something else", () => kubeconfigAccess("[1, 2]"), /kubeconfig: the document/],
  [
    "a server that is no URL",
    () => kubeconfigAccess(kubeconfig({ cluster: { server: "here" } })),
    /clusters.0.cluster.server/,
  ],
  ["no current context", () => kubeconfigAccess(kubeconfig({ current: null })), /no current-context/],
  ["an unknown context", () => kubeconfigAccess(kubeconfig(), { context: "x" }), /no context "x": choose one of c/],
  ["a context without its user", () => kubeconfigAccess(kubeconfig({ user: null })), /wants user "c"/],
  [
    "a certificate authority that is not there",
    () => kubeconfigAccess(kubeconfig({ cluster: { "certificate-authority": "/no/ca" } })),
    /certificate-authority \/no\/ca cannot be read/,
  ],
];
test.each(refused)("refuses %s, and says what to do", (_, act, message) => {
  expect(act).toThrow(ConfigError);
  expect(act).toThrow(message);
});
