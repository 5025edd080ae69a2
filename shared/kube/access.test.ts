import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { ConfigError } from "../runtime/config-error.ts";
import { VirtualClock } from "../runtime/virtual-clock.ts";
import { type AccessOptions, type ClusterAccess, findAccess, serviceAccountAccess } from "./access.ts";
import type { CredentialSource } from "./credentials.ts";

const dir = mkdtempSync(join(tmpdir(), "jobferry-access-"));
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (name: string, text: string): string => {
  const path = join(dir, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** Of a kubeconfig with this text. */
const kubeconfigAccess = (text: string, options: AccessOptions = {}): Promise<ClusterAccess> =>
  findAccess({ kubeconfig: file("kubeconfig", text), ...options });

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

test("a token", async () => {
  const access = await kubeconfigAccess(
    kubeconfig({ user: { token: "secret" }, cluster: { "insecure-skip-tls-verify": true } }),
  );
  expect(access).toMatchObject({
    server: "https://127.0.0.1:6443",
    namespace: "team",
    tls: { rejectUnauthorized: false },
  });
  expect(await access.credentials.current()).toEqual({ headers: { authorization: "Bearer secret" } });
});

test("client certificates in place, and a certificate authority", async () => {
  const access = await kubeconfigAccess(
    kubeconfig({
      cluster: { "certificate-authority-data": base64("CA"), "tls-server-name": "kubernetes" },
      user: { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") },
    }),
  );
  expect(access.tls).toEqual({ ca: "CA", servername: "kubernetes" });
  expect(await access.credentials.current()).toEqual({ headers: {}, cert: "CERT", key: "KEY" });
});

test("paths are relative to the kubeconfig", async () => {
  file("rel/ca.crt", "CA");
  file("rel/token", "from-file\n");
  const path = file(
    "rel/config",
    kubeconfig({ cluster: { "certificate-authority": "ca.crt" }, user: { tokenFile: "token", token: "in-place" } }),
  );
  const access = await findAccess({ kubeconfig: path });
  expect(access.tls.ca).toBe("CA");
  expect(await access.credentials.current()).toEqual({ headers: { authorization: "Bearer from-file" } });
});

test("user name and password", async () => {
  const { credentials } = await kubeconfigAccess(kubeconfig({ user: { username: "u", password: "p" } }));
  expect(await credentials.current()).toEqual({ headers: { authorization: `Basic ${base64("u:p")}` } });
});

test("impersonation is never left out", async () => {
  const user = { token: "t", as: "jane", "as-groups": ["a", "b"], "as-uid": "7", "as-user-extra": { "X/y": ["1"] } };
  expect(await (await kubeconfigAccess(kubeconfig({ user }))).credentials.current()).toEqual({
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
  const { credentials } = await kubeconfigAccess(kubeconfig({ user: { exec, as: "jane" } }));
  const first = await credentials.current();
  expect(first.headers).toEqual({ authorization: "Bearer first", "impersonate-user": "jane" });
  writeFileSync(token, answer("second"));
  expect((await credentials.current()).headers.authorization).toBe("Bearer first");
  credentials.refresh();
  expect((await credentials.current()).headers.authorization).toBe("Bearer second");
});

test("an auth provider is asked, and again after a refusal", async () => {
  const answer = (token: string): string => JSON.stringify({ token, expiry: "2999-01-01T00:00:00Z" });
  const told = file("provider", answer("first"));
  const config = { "cmd-path": "cat", "cmd-args": told, "token-key": "{.token}", "expiry-key": "{.expiry}" };
  const user = { "auth-provider": { name: "gcp", config } };
  const { credentials } = await kubeconfigAccess(kubeconfig({ user }));
  expect(await credentials.current()).toEqual({ headers: { authorization: "Bearer first" } });
  writeFileSync(told, answer("second"));
  credentials.refresh();
  expect(await credentials.current()).toEqual({ headers: { authorization: "Bearer second" } });
});

test("a failing exec plugin rejects, and is tried again the next time", async () => {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./no-such-plugin" };
  const { credentials } = await kubeconfigAccess(kubeconfig({ user: { exec } }));
  await expect(credentials.current()).rejects.toThrow(join(dir, "no-such-plugin"));
  await expect(credentials.current()).rejects.toThrow("ENOENT");
});

test("in a pod: address, namespace and a token that follows its file", async () => {
  const folder = "account/var/run/secrets/kubernetes.io/serviceaccount";
  file(`${folder}/ca.crt`, "CA");
  file(`${folder}/namespace`, "jobs\n");
  const token = file(`${folder}/token`, "one");
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "fd00::1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", "6443");
  const clock = new VirtualClock();
  const access = await serviceAccountAccess({ root: join(dir, "account"), clock });
  expect(access).toMatchObject({ server: "https://[fd00::1]:6443", namespace: "jobs", tls: { ca: "CA" } });
  await followsItsFile(access.credentials, token, clock);
});

test("a tokenFile is read again, and kept while it is being replaced", async () => {
  const token = file("renewed/token", "one\n");
  const clock = new VirtualClock();
  const { credentials } = await kubeconfigAccess(kubeconfig({ user: { tokenFile: token } }), { clock });
  await followsItsFile(credentials, token, clock);
});

/** The file holds `one`. The library looks at it once a minute, by the wall clock. */
async function followsItsFile(credentials: CredentialSource, path: string, clock: VirtualClock): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  const pass = async (ms: number): Promise<void> => {
    vi.setSystemTime(Date.now() + ms);
    await clock.advance(ms);
  };
  const bearer = async (): Promise<unknown> => (await credentials.current()).headers.authorization;
  expect(await bearer()).toBe("Bearer one");
  writeFileSync(path, "second");
  await pass(1_000);
  expect(await bearer()).toBe("Bearer one");
  await pass(61_000);
  expect(await bearer()).toBe("Bearer second");
  writeFileSync(path, "third");
  credentials.refresh();
  expect(await bearer()).toBe("Bearer third");
  rmSync(path);
  await pass(61_000);
  expect(await bearer()).toBe("Bearer third");
  credentials.refresh();
  await expect(bearer()).rejects.toThrow("ENOENT");
}

test("client certificates in files are read again", async () => {
  const [cert, key] = [file("cert.pem", "CERT"), file("key.pem", "KEY")];
  const clock = new VirtualClock();
  const user = { "client-certificate": cert, "client-key": "key.pem" };
  const { credentials } = await kubeconfigAccess(kubeconfig({ user }), { clock });
  expect(await credentials.current()).toEqual({ headers: {}, cert: "CERT", key: "KEY" });
  writeFileSync(cert, "CERT 2");
  writeFileSync(key, "KEY 2");
  await clock.advance(5_000);
  expect(await credentials.current()).toEqual({ headers: {}, cert: "CERT 2", key: "KEY 2" });
});

test("nobody in particular, and a server without TLS", async () => {
  const text = kubeconfig({ cluster: { server: "http://127.0.0.1:8001" } });
  for (const anonymous of [text, text.replace('"user":"c"', '"user":""')]) {
    const access = await kubeconfigAccess(anonymous);
    expect(access).toMatchObject({ server: "http://127.0.0.1:8001", tls: {} });
    expect(await access.credentials.current()).toEqual({ headers: {} });
  }
});

test("of several files in KUBECONFIG the first that names a thing wins; missing ones are skipped", async () => {
  const one = file("one", kubeconfig({ name: "one", user: { token: "t1" }, current: null }));
  const two = file("two", kubeconfig({ name: "two", user: { token: "t2" } }));
  const again = file("again", kubeconfig({ name: "two", user: { token: "t3" } }));
  const env = { KUBECONFIG: [one, join(dir, "missing"), two, again].join(":") };
  const bearer = async (context?: string): Promise<unknown> =>
    (await (await findAccess({ env, context })).credentials.current()).headers.authorization;
  expect(await bearer()).toBe("Bearer t2");
  expect(await bearer("one")).toBe("Bearer t1");
});

test("without anything else ~/.kube/config is used", async () => {
  file("home/.kube/config", kubeconfig({ user: { token: "home" } }));
  const { credentials } = await findAccess({ env: { HOME: join(dir, "home") } });
  expect(await credentials.current()).toEqual({ headers: { authorization: "Bearer home" } });
});

const refused: [string, () => Promise<unknown>, RegExp][] = [
  ["a missing file", () => findAccess({ kubeconfig: join(dir, "nowhere") }), /nowhere cannot be read/],
  ["nothing to be found", () => findAccess({ env: {} }), /give --kubeconfig/],
  ["no YAML", () => kubeconfigAccess("a: [1"), /is not YAML/],
  ["something else", () => kubeconfigAccess("[1, 2]"), /kubeconfig .*: the document/],
  ["users that are not one", () => kubeconfigAccess("users: [1]"), /kubeconfig .*: users.0/],
  [
    "a server that is not a URL",
    () => kubeconfigAccess(kubeconfig({ cluster: { server: "here" } })),
    /the server "here" of cluster "c" must be https:\/\//,
  ],
  [
    "a cluster without a server",
    () => kubeconfigAccess(kubeconfig({ cluster: { server: undefined } })),
    /wants cluster "c", which is not there/,
  ],
  [
    "a proxy of another kind",
    () => kubeconfigAccess(kubeconfig({ cluster: { "proxy-url": "socks5://p:1" } })),
    /the proxy-url "socks5:\/\/p:1" of cluster "c" must be https:\/\//,
  ],
  ["no current context", () => kubeconfigAccess(kubeconfig({ current: null })), /no current-context/],
  ["an unknown context", () => kubeconfigAccess(kubeconfig(), { context: "x" }), /no context "x": choose one of c/],
  [
    "a context without its user",
    () => kubeconfigAccess(kubeconfig().replace('"users":[{"name":"c"', '"users":[{"name":"d"')),
    /wants user "c", which is not there: add it/,
  ],
  [
    "a certificate authority that is not there",
    () => kubeconfigAccess(kubeconfig({ cluster: { "certificate-authority": "/no/ca" } })),
    /certificate-authority \/no\/ca cannot be read/,
  ],
];
test.each(refused)("refuses %s, and says what to do", async (_, act, message) => {
  const error = await act().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(message);
  expect(String(error)).not.toContain("\n");
});
