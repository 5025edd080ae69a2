import { Agent, request } from "node:https";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SandboxCluster } from "../cluster.ts";

interface Kubeconfig {
  clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  users: { user: { token: string } }[];
}

const cluster = new SandboxCluster({ seed: 1 });
let config: Kubeconfig;
let agent: Agent;

beforeAll(async () => {
  config = parse((await cluster.serve()).kubeconfig) as Kubeconfig;
  const ca = Buffer.from(config.clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64");
  agent = new Agent({ ca, keepAlive: true });
});
afterAll(async () => {
  agent.destroy();
  await cluster.stop();
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: Record<string, unknown>;
}

/** Certificate and token are checked, as kubectl does. */
function ask(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = `Bearer ${config.users[0]?.user.token ?? ""}`;
  return new Promise((resolve, reject) => {
    const url = `${config.clusters[0]?.cluster.server ?? ""}${path}`;
    const call = request(url, { method, agent, headers: { authorization, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const isJson =
          response.headers["content-type"]?.startsWith("application/json") === true && !text.includes("}\n{");
        const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json });
      });
    });
    call.on("error", reject);
    call.end(body);
  });
}
const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  ask("POST", path, JSON.stringify(body), { "content-type": "application/json", ...headers });

const maps = "/api/v1/namespaces/default/configmaps";

describe("over TLS", () => {
  it("asks for the token, except where health and version are concerned", async () => {
    expect((await ask("GET", "/api", undefined, { authorization: "Bearer wrong" })).json).toMatchObject({
      code: 401,
      reason: "Unauthorized",
    });
    expect((await ask("GET", "/readyz", undefined, { authorization: "" })).text).toBe("ok");
    expect((await ask("GET", "/version", undefined, { authorization: "" })).json).toMatchObject({ minor: "36" });
  });

  it("answers in YAML when asked to, and takes it", async () => {
    const created = await ask("POST", maps, "metadata: {name: yaml}\ndata: {a: b}\n", {
      "content-type": "application/yaml",
      accept: "application/yaml",
    });
    expect(created.status).toBe(201);
    expect(parse(created.text)).toMatchObject({ kind: "ConfigMap", data: { a: "b" } });
  });

  it("streams a watch, and cuts it at its time", async () => {
    await post(maps, { metadata: { name: "seen" } });
    const { text } = await ask("GET", `${maps}?watch=true&fieldSelector=metadata.name=seen&timeoutSeconds=1`);
    expect(
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ type: "ADDED", object: { kind: "ConfigMap", metadata: { name: "seen" } } }]);
  });

  it("tells an expired watch inside the stream", async () => {
    cluster.compact();
    const { status, json } = await ask("GET", `${maps}?watch=true&resourceVersion=1`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  it("shows rows to a terminal, in lists and watches", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const list = await ask("GET", `${maps}?fieldSelector=metadata.name=seen`, undefined, { accept });
    expect(list.json).toMatchObject({ kind: "Table", rows: [{ cells: ["seen", 0, expect.any(String)] }] });
    const path = `${maps}?watch=true&fieldSelector=metadata.name=seen&timeoutSeconds=1`;
    const watch = await ask("GET", path, undefined, { accept });
    expect(watch.json).toMatchObject({
      type: "ADDED",
      object: { kind: "Table", rows: [{ cells: ["seen", 0, expect.any(String)] }] },
    });
  });

  it("gives metadata alone", async () => {
    const accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const { json } = await ask("GET", `${maps}/yaml`, undefined, { accept });
    expect(json).toMatchObject({ kind: "PartialObjectMetadata", metadata: { name: "yaml" } });
    expect(json.data).toBeUndefined();
  });

  it("streams long lists", async () => {
    await cluster.api.create(
      { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
      undefined,
      {
        metadata: { name: "many" },
      },
    );
    const resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
    for (let i = 0; i < 1201; i++) await cluster.api.create(resource, "many", { metadata: { name: `m${i}` } });
    const { json } = await ask("GET", "/api/v1/namespaces/many/configmaps");
    expect(json.items).toHaveLength(1201);
    const removed = await ask("DELETE", "/api/v1/namespaces/many/configmaps");
    expect(removed.json.items).toHaveLength(1201);
  });

  it("warns in a header, and refuses when told to be strict", async () => {
    const body = { metadata: { name: "warned" }, extra: 1 };
    const warned = await post(`${maps}?dryRun=All`, body);
    expect(warned.headers.warning).toBe('299 - "unknown field \\"extra\\""');
    expect((await post(`${maps}?fieldValidation=Strict`, body)).status).toBe(400);
    expect((await post(`${maps}?fieldValidation=Ignore&dryRun=All`, body)).headers.warning).toBeUndefined();
  });

  it("refuses bodies that are too large, of another type, or no JSON", async () => {
    const large = await ask("POST", maps, Buffer.alloc(3 * 1024 * 1024 + 1, "x"), {
      "content-type": "application/json",
    });
    expect(large.json).toMatchObject({ code: 413, reason: "RequestEntityTooLarge" });
    expect((await ask("POST", maps, "a=1", { "content-type": "text/plain" })).status).toBe(415);
    expect((await ask("POST", maps, "{", { "content-type": "application/json" })).status).toBe(400);
    expect((await ask("PATCH", `${maps}/yaml`, "{}", { "content-type": "application/json" })).status).toBe(415);
  });

  it("knows which paths and methods there are", async () => {
    expect((await ask("GET", "/nowhere")).text).toBe("404 page not found\n");
    expect((await ask("GET", "/apis/nobody.example/v1/things")).text).toBe("404 page not found\n");
    expect((await ask("GET", "/apis/batch/v1/things")).json).toMatchObject({ reason: "NotFound", details: {} });
    expect((await ask("GET", "/api/v1/namespaces/%E0%A4%A/pods")).status).toBe(400);
    expect((await ask("PUT", maps, "{}")).json).toMatchObject({ code: 405 });
    expect((await ask("GET", `${maps}/yaml/status`)).json).toMatchObject({ code: 404 });
  });

  it("hides injected connection faults from no one: the connection breaks", async () => {
    cluster.faults.inject({ resource: "configmaps", verb: "get" }, { effect: "drop" });
    await expect(ask("GET", `${maps}/yaml`)).rejects.toThrow();
    cluster.faults.inject({ resource: "configmaps" }, { effect: "fail", code: 429, retryAfterSeconds: 2 });
    expect((await ask("GET", `${maps}/yaml`)).headers["retry-after"]).toBe("2");
  });

  it("describes itself in both ways clients ask", async () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const { json, headers } = await ask("GET", "/apis", undefined, { accept });
    expect(headers["content-type"]).toBe(accept);
    expect(json).toMatchObject({ kind: "APIGroupDiscoveryList" });
    expect((await ask("GET", "/apis")).json).toMatchObject({ kind: "APIGroupList" });
    expect((await ask("GET", "/api/v1")).json).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
    expect((await ask("GET", "/apis/batch")).json).toMatchObject({ kind: "APIGroup", name: "batch" });
    expect((await ask("GET", "/openapi/v3")).json).toMatchObject({ paths: { "apis/batch/v1": {} } });
    const batch = (await ask("GET", "/openapi/v3/apis/batch/v1")).json as {
      components: { schemas: Record<string, object> };
    };
    expect(batch.components.schemas.JobStatus).toMatchObject({
      properties: { conditions: { "x-kubernetes-patch-merge-key": "type" } },
    });
  });

  it("says why there is no log", async () => {
    const pod = {
      metadata: { name: "p" },
      spec: {
        containers: [
          { name: "a", image: "x" },
          { name: "b", image: "x" },
        ],
      },
    };
    await post("/api/v1/namespaces/default/pods", pod);
    const log = (query: string): Promise<Answer> => ask("GET", `/api/v1/namespaces/default/pods/p/log${query}`);
    expect((await log("")).json.message).toContain("choose one of: [a b]");
    expect((await log("?container=z")).json.message).toBe("container z is not valid for pod p");
    expect((await log("?container=a")).json.message).toContain("is waiting to start");
    expect((await log("?container=a&previous=true")).json.message).toContain("previous terminated container");
  });
});
