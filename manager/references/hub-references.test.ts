import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, ObjectKey, Resource } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { generateKeyPair, type OwnKeys } from "@jobferry/shared/protocol/keys.ts";
import { TAKEN } from "@jobferry/shared/protocol/marks.ts";
import type { CopiedKind } from "@jobferry/shared/references/contents.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { formatTaken } from "./changes.ts";
import { Hashes } from "./hashes.ts";
import { HubReferences } from "./hub-references.ts";

const keys = generateKeyPair();

function aHub(kinds: readonly CopiedKind[] = ["ConfigMap", "Secret"]) {
  const clock = new VirtualClock();
  const objects = new Map<string, KubeObject | ApiError>();
  const asked: string[] = [];
  const get = async ({ kind }: Resource, { namespace, name }: ObjectKey) => {
    const key = `${kind} ${namespace}/${name}`;
    asked.push(key);
    const found = objects.get(key) ?? new ApiError(404, "NotFound", "not found");
    if (found instanceof ApiError) throw found;
    return found;
  };
  const withKeys = (own: OwnKeys) =>
    new HubReferences({
      api: { get } as unknown as KubeApi,
      clock,
      queues: { copies: () => new Set(kinds) },
      hashes: new Hashes(own),
    });
  const put = (key: string, object: object): unknown => objects.set(key, { metadata: {}, ...object });
  const fail = (key: string, code: number): unknown => objects.set(key, new ApiError(code, "", "no"));
  return { clock, references: withKeys([keys]), withKeys, asked, put, fail };
}

const job = (...sources: object[]): Job => ({
  metadata: { namespace: "team", name: "j" },
  spec: { template: { spec: { containers: [{ name: "main", envFrom: sources }] } } },
});
const map = (name: string, optional = false) => ({ configMapRef: { name, optional } });
const secret = (name: string, optional = false) => ({ secretRef: { name, optional } });

it("lists what the Job refers to, each with a hash of its contents, one read for each", async () => {
  const { references, asked, put } = aHub();
  put("ConfigMap team/words", { data: { a: "1" } });
  put("Secret team/login", { type: "Opaque", data: { a: "MQ==" } });
  const listing = await references.list(job(map("words"), secret("login"), map("words")), "q");
  expect(listing.problem).toBeUndefined();
  expect(listing.references.map(({ kind, name }) => `${kind} ${name}`)).toEqual(["ConfigMap words", "Secret login"]);
  for (const { hash } of listing.references) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(asked).toHaveLength(2);
});

it("equal contents have equal hashes, other contents or another manager's key others", async () => {
  const { references, put } = aHub();
  put("ConfigMap team/a", { data: { x: "1", y: "2" } });
  put("ConfigMap team/b", { data: { y: "2", x: "1" } });
  put("ConfigMap team/c", { data: { x: "1" } });
  const { references: found } = await references.list(job(map("a"), map("b"), map("c")), "q");
  const [a, b, c] = found.map(({ hash }) => hash);
  expect(a).toBe(b);
  expect(a).not.toBe(c);
  const text = '{"data":{"x":"1"}}';
  expect(new Hashes([keys]).of("ConfigMap", text)).not.toBe(new Hashes([generateKeyPair()]).of("ConfigMap", text));
  expect(new Hashes([keys]).of("ConfigMap", text)).not.toBe(new Hashes([keys]).of("Secret", text));
});

it.each<[string, Job, readonly CopiedKind[]]>([
  ["refers to nothing", job(), ["ConfigMap", "Secret"]],
  ["is of a queue that expects all of it on the workers", job(map("words"), secret("login")), []],
  ["refers to kinds that its queue does not send", job(secret("login")), ["ConfigMap"]],
  ["refers to what every namespace has", job(map("kube-root-ca.crt")), ["ConfigMap"]],
])("costs no call for a Job that %s", async (_, of, kinds) => {
  const { references, asked } = aHub(kinds);
  expect(await references.list(of, "q")).toEqual({ references: [], taken: undefined, problem: undefined });
  expect(asked).toEqual([]);
});

it("tokens of service accounts stay where they are", async () => {
  const { references, put } = aHub();
  put("Secret team/token", { type: "kubernetes.io/service-account-token", data: { token: "eA==" } });
  expect(await references.list(job(secret("token")), "q")).toEqual({ references: [], taken: [], problem: undefined });
});

it("what cannot be read is a problem with its fix, unless it is optional", async () => {
  const { references, fail } = aHub();
  fail("Secret team/login", 403);
  fail("ConfigMap team/private", 403);
  const problem = async (source: object) => (await references.list(job(source), "q")).problem;
  expect(await problem(map("words"))).toMatch(/^ConfigMap team\/words does not exist on the hub: create it, or set /);
  expect(await problem(secret("login"))).toBe(
    "Secret team/login may not be read by the manager: kubectl create rolebinding jobferry-references -n team --clusterrole=jobferry-references --serviceaccount=jobferry-system:jobferry-manager",
  );
  expect(await problem(map("private"))).toMatch(/may not be read by the manager: apply deploy\/hub again/);
  expect(await problem(map("words", true))).toBeUndefined();
  expect(await problem(secret("login", true))).toBeUndefined();
});

it("a thousand Jobs that wait for one object ask for it once in a while, and see it soon", async () => {
  const { references, asked, clock, put } = aHub();
  for (let i = 0; i < 1_000; i++) await references.list(job(map("words")), "q");
  expect(asked).toHaveLength(1);
  put("ConfigMap team/words", { data: {} });
  await clock.advance(5_000);
  expect((await references.list(job(map("words")), "q")).problem).toBeUndefined();
});

it("what is optional is taken along as soon as it is there", async () => {
  const { references, put } = aHub();
  expect((await references.list(job(map("words", true)), "q")).references).toEqual([]);
  put("ConfigMap team/words", { data: {} });
  expect((await references.list(job(map("words", true)), "q")).references).toHaveLength(1);
});

it("an API server that does not answer is not a reason to say that something is missing", async () => {
  const { references, fail } = aHub();
  fail("ConfigMap team/words", 500);
  await expect(references.list(job(map("words")), "q")).rejects.toThrow();
});

it("a Job with more references than a message holds is told so", async () => {
  const { references } = aHub();
  const many = Array.from({ length: 257 }, (_, index) => map(`m${index}`));
  expect((await references.list(job(...many), "q")).problem).toMatch(/more than 256/);
});

it("gives contents only under the hash that it listed, and only of what travels with the Job", async () => {
  const { references, put, fail } = aHub(["ConfigMap"]);
  put("ConfigMap team/words", { data: { a: "1" } });
  put("ConfigMap team/others", { data: { a: "2" } });
  put("Secret team/login", { data: { a: "MQ==" } });
  const unlisted = job(map("words"), secret("login"));
  const { references: [listed] = [], taken = [] } = await references.list(unlisted, "q");
  if (listed === undefined) throw new Error("nothing is listed");
  const of = { ...unlisted, metadata: { ...unlisted.metadata, annotations: { [TAKEN]: formatTaken(taken) } } };
  expect(await references.contents(of, "q", listed)).toEqual({ contents: '{"data":{"a":"1"}}' });
  expect(await references.contents(unlisted, "q", listed)).toBe("not-listed");
  expect(await references.contents(of, "q", { ...listed, hash: "0".repeat(64) })).toBe("not-listed");
  expect(await references.contents(of, "q", { ...listed, name: "others" })).toBe("not-listed");
  expect(await references.contents(of, "q", { ...listed, kind: "Secret", name: "login" })).toBe("not-listed");
  // The first digits alone, which the Job shows to whoever may read it.
  const guessed = `${listed.hash.slice(0, 10)}${"0".repeat(54)}`;
  expect(await references.contents(of, "q", { ...listed, hash: guessed })).toBe("changed");
  put("ConfigMap team/words", { data: { a: "3" } });
  expect(await references.contents(of, "q", listed)).toBe("changed");
  fail("ConfigMap team/words", 404);
  expect(await references.contents(of, "q", listed)).toMatchObject({
    problem: expect.stringContaining("does not exist"),
  });
});

it("gives contents that were listed under a former key, too", async () => {
  const { references, put, withKeys } = aHub(["ConfigMap"]);
  put("ConfigMap team/words", { data: { a: "1" } });
  const { references: [listed] = [], taken = [] } = await references.list(job(map("words")), "q");
  if (listed === undefined) throw new Error("nothing is listed");
  const of = { ...job(map("words")), metadata: { namespace: "team", annotations: { [TAKEN]: formatTaken(taken) } } };
  const next = generateKeyPair();
  expect(await withKeys([next, keys]).contents(of, "q", listed)).toEqual({ contents: '{"data":{"a":"1"}}' });
  expect(await withKeys([next]).contents(of, "q", listed)).toBe("changed");
});

it("holds the contents of a few objects at a time, however many Jobs are dispatched", async () => {
  let [now, most] = [0, 0];
  const get = async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return { metadata: {}, data: { a: "1" } };
  };
  const references = new HubReferences({
    ...{ api: { get } as unknown as KubeApi, clock: new VirtualClock(), hashes: new Hashes([keys]) },
    queues: { copies: () => new Set(["ConfigMap"] as const) },
  });
  const many = job(...Array.from({ length: 50 }, (_, index) => map(`m${index}`)));
  const listings = await Promise.all(Array.from({ length: 8 }, () => references.list(many, "q")));
  expect(listings.map(({ references: listed }) => listed.length)).toEqual(Array(8).fill(50));
  expect(most).toBe(16);
});
