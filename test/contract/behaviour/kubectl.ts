import { join } from "node:path";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { controlPlaneAssets } from "../../harness/real-cluster-options.ts";
import { followCommand } from "../../harness/run-command.ts";
import type { Subject } from "../subject.ts";

const manifest = (name: string, parallelism = 1) => `
apiVersion: batch/v1
kind: Job
metadata:
  name: ${name}
  labels: {app: demo}
spec:
  parallelism: ${parallelism}
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox
        command: ["sh", "-c", "echo hello"]
`;

const finished = {
  startTime: "2026-01-01T00:00:00Z",
  succeeded: 1,
  completionTime: "2026-01-01T00:01:05Z",
  conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: "2026-01-01T00:01:05Z",
  })),
};

export function kubectl(subject: Subject): void {
  let namespace: string;
  const run = (...args: string[]) => subject.cluster.kubectl("-n", namespace, ...args);
  const feed = (input: string, ...args: string[]) => subject.cluster.kubectlWith(input, "-n", namespace, ...args);
  /** Cells of the lines printed, without ages. */
  const cells = (stdout: string): string[][] =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s{2,}/).map((cell) => cell.replace(/^\d+[smh]\d*s?$/, "<age>")));
  const ok = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: "" });

  describe("kubectl", () => {
    beforeAll(async () => {
      namespace = await subject.newNamespace();
    });

    it("creates from a manifest, once", async () => {
      expect(await feed(manifest("created"), "create", "-f", "-")).toEqual(ok("job.batch/created created"));
      const again = await feed(manifest("created"), "create", "-f", "-");
      expect(again).toMatchObject({ code: 1, stdout: "" });
      expect(again.stderr).toContain('jobs.batch "created" already exists');
    });

    it("creates from flags, and from a CronJob", async () => {
      expect(await run("create", "job", "flags", "--image=busybox", "--", "true")).toEqual(
        ok("job.batch/flags created"),
      );
      const schedule = await run(
        "create",
        "cronjob",
        "nightly",
        "--image=busybox",
        "--schedule=0 3 * * *",
        "--",
        "true",
      );
      expect(schedule).toEqual(ok("cronjob.batch/nightly created"));
      expect(await run("create", "job", "tonight", "--from=cronjob/nightly")).toEqual(ok("job.batch/tonight created"));
      const made = await subject.api.get(jobs, { namespace, name: "tonight" });
      expect(made.metadata.annotations).toMatchObject({ "cronjob.kubernetes.io/instantiate": "manual" });
    });

    it("refuses a misspelt field before the server sees it", async () => {
      const misspelt = await feed(manifest("misspelt").replace("parallelism", "paralelism"), "create", "-f", "-");
      expect(misspelt).toMatchObject({ code: 1, stdout: "" });
      expect(misspelt.stderr).toContain('unknown field "spec.paralelism"');
    });

    it("applies, applies a change, and sees when there is none", async () => {
      expect(await feed(manifest("applied"), "apply", "-f", "-")).toEqual(ok("job.batch/applied created"));
      expect(await feed(manifest("applied"), "apply", "-f", "-")).toEqual(ok("job.batch/applied unchanged"));
      expect(await feed(manifest("applied", 3), "apply", "-f", "-")).toEqual(ok("job.batch/applied configured"));
      expect((await subject.api.get(jobs, { namespace, name: "applied" })).spec?.parallelism).toBe(3);
    });

    it("applies on the server side", async () => {
      const apply = (parallelism: number) => feed(manifest("server", parallelism), "apply", "--server-side", "-f", "-");
      expect(await apply(1)).toEqual(ok("job.batch/server serverside-applied"));
      expect(await apply(2)).toEqual(ok("job.batch/server serverside-applied"));
      expect((await subject.api.get(jobs, { namespace, name: "server" })).spec?.parallelism).toBe(2);
    });

    it("gets with columns, wide columns, names, paths and labels", async () => {
      await feed(manifest("shown"), "create", "-f", "-");
      expect(cells((await run("get", "job", "shown")).stdout)).toEqual([
        ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"],
        ["shown", "Running", "0/1", "<age>"],
      ]);
      expect(cells((await run("get", "jobs/shown", "-o", "wide")).stdout)[0]).toEqual([
        "NAME",
        "STATUS",
        "COMPLETIONS",
        "DURATION",
        "AGE",
        "CONTAINERS",
        "IMAGES",
        "SELECTOR",
      ]);
      expect(
        await run("get", "jobs", "-l", "app=demo", "--field-selector", "metadata.name=shown", "-o", "name"),
      ).toEqual(ok("job.batch/shown"));
      expect((await run("get", "job", "shown", "-o", "jsonpath={.spec.backoffLimit}")).stdout).toBe("6");
      expect((await run("get", "job", "shown", "--show-labels", "--no-headers")).stdout).toContain("app=demo");
      expect(JSON.parse((await run("get", "job", "shown", "-o", "json")).stdout)).toMatchObject({ kind: "Job" });
      expect((await run("get", "job", "shown", "-o", "yaml")).stdout).toMatch(/^apiVersion: batch\/v1\nkind: Job\n/);
      expect(
        (await run("get", "jobs", "-A", "-o", "custom-columns=N:.metadata.name", "--no-headers")).stdout,
      ).toContain("shown\n");
    });

    it("says what it does not find", async () => {
      expect(await run("get", "job", "none")).toEqual({
        code: 1,
        stdout: "",
        stderr: 'Error from server (NotFound): jobs.batch "none" not found\n',
      });
      expect(await run("get", "widgets")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('the server doesn\'t have a resource type "widgets"'),
      });
      expect(await run("get", "jobs", "-l", "none=here")).toMatchObject({
        code: 0,
        stderr: `No resources found in ${namespace} namespace.\n`,
      });
    });

    it("describes a Job with its events", async () => {
      await feed(manifest("described"), "create", "-f", "-");
      const { metadata } = await subject.api.get(jobs, { namespace, name: "described" });
      await feed(
        JSON.stringify({
          apiVersion: "v1",
          kind: "Event",
          metadata: { name: "described.1", namespace },
          involvedObject: { apiVersion: "batch/v1", kind: "Job", namespace, name: "described", uid: metadata.uid },
          reason: "Queued",
          message: "waits for a cluster",
          type: "Normal",
          source: { component: "jobferry" },
        }),
        "create",
        "-f",
        "-",
      );
      const { code, stdout } = await run("describe", "job", "described");
      expect(code).toBe(0);
      for (const line of [
        /^Name: +described$/m,
        /^Parallelism: +1$/m,
        /^Completion Mode: +NonIndexed$/m,
        /Image: +busybox/,
      ])
        expect(stdout).toMatch(line);
      expect(stdout).toMatch(/Normal +Queued +\S+ +jobferry +waits for a cluster/);
    });

    it("waits for a condition, a path and a deletion", async () => {
      await feed(manifest("awaited"), "create", "-f", "-");
      const complete = run("wait", "--for=condition=complete", "job/awaited", "--timeout=20s");
      const status = run("wait", "--for=jsonpath={.status.succeeded}=1", "job/awaited", "--timeout=20s");
      const patch = { type: "merge" as const, body: { status: finished } };
      await subject.api.patch(jobs, { namespace, name: "awaited" }, patch, { subresource: "status" });
      expect(await complete).toEqual(ok("job.batch/awaited condition met"));
      expect(await status).toEqual(ok("job.batch/awaited condition met"));
      const deleted = run("wait", "--for=delete", "job/awaited", "--timeout=20s");
      await run("delete", "job", "awaited", "--wait=false");
      expect(await deleted).toMatchObject({ code: 0 });
    });

    it("gives up waiting with an error", async () => {
      await feed(manifest("slow"), "create", "-f", "-");
      expect(await run("wait", "--for=condition=complete", "job/slow", "--timeout=1s")).toMatchObject({
        code: 1,
        stderr: "error: timed out waiting for the condition on jobs/slow\n",
      });
    });

    it("shows a finished Job as such", async () => {
      await feed(manifest("done"), "create", "-f", "-");
      const patch = { type: "merge" as const, body: { status: finished } };
      await subject.api.patch(jobs, { namespace, name: "done" }, patch, { subresource: "status" });
      const [, row] = cells((await run("get", "job", "done")).stdout);
      expect(row).toEqual(["done", "Complete", "1/1", "<age>", "<age>"]);
    });

    it("patches in every way", async () => {
      await feed(manifest("patched"), "create", "-f", "-");
      const patched = ok("job.batch/patched patched");
      expect(await run("patch", "job", "patched", "-p", '{"spec":{"parallelism":2}}')).toEqual(patched);
      expect(await run("patch", "job", "patched", "--type=merge", "-p", '{"spec":{"suspend":true}}')).toEqual(patched);
      const json = '[{"op":"replace","path":"/spec/parallelism","value":5}]';
      expect(await run("patch", "job", "patched", "--type=json", "-p", json)).toEqual(patched);
      expect(await run("patch", "job", "patched", "--type=json", "-p", json)).toEqual(
        ok("job.batch/patched patched (no change)"),
      );
      expect((await subject.api.get(jobs, { namespace, name: "patched" })).spec).toMatchObject({
        parallelism: 5,
        suspend: true,
      });
    });

    it("labels and annotates", async () => {
      await feed(manifest("labelled"), "create", "-f", "-");
      expect(await run("label", "job", "labelled", "team=a")).toEqual(ok("job.batch/labelled labeled"));
      expect(await run("label", "job", "labelled", "team=b")).toMatchObject({ code: 1 });
      expect(await run("label", "job", "labelled", "team=b", "--overwrite")).toEqual(ok("job.batch/labelled labeled"));
      expect(await run("label", "job", "labelled", "team-")).toEqual(ok("job.batch/labelled unlabeled"));
      expect(await run("annotate", "job", "labelled", "note=x")).toEqual(ok("job.batch/labelled annotated"));
    });

    it("deletes, waits for the end, and ignores what is gone when told to", async () => {
      await feed(manifest("deleted"), "create", "-f", "-");
      const deleted = ok(`job.batch "deleted" deleted from ${namespace} namespace`);
      expect(await run("delete", "job", "deleted")).toEqual(deleted);
      expect(await run("delete", "job", "deleted")).toMatchObject({ code: 1 });
      expect(await run("delete", "job", "deleted", "--ignore-not-found")).toMatchObject({ code: 0 });
      for (const cascade of ["foreground", "orphan"]) {
        await feed(manifest("deleted"), "create", "-f", "-");
        expect(await run("delete", "job", "deleted", `--cascade=${cascade}`)).toEqual(deleted);
      }
    });

    it("deletes by label", async () => {
      await feed(manifest("one").replace("demo", "bulk"), "create", "-f", "-");
      await feed(manifest("two").replace("demo", "bulk"), "create", "-f", "-");
      const { code, stdout } = await run("delete", "jobs", "-l", "app=bulk");
      expect({ code, lines: stdout.trim().split("\n").length }).toEqual({ code: 0, lines: 2 });
    });

    it("lists what there is", async () => {
      const { stdout } = await run("api-resources", "--api-group=batch", "--no-headers", "-o", "name");
      expect(stdout.trim().split("\n").sort()).toEqual(["cronjobs.batch", "jobs.batch"]);
      expect((await run("get", "all")).code).toBe(0);
      expect((await run("explain", "job.spec.parallelism")).stdout).toContain("FIELD: parallelism <integer>");
    });

    it("names client and server versions", async () => {
      const { stdout } = await run("version");
      expect(stdout).toMatch(/^Client Version: v1\.36\./m);
      expect(stdout).toMatch(/^Server Version: v1\.36\./m);
    });

    it("streams changes", async () => {
      const create = (name: string) => feed(manifest(name).replace("demo", "streamed"), "create", "-f", "-");
      await create("first");
      const watches = Promise.withResolvers<void>();
      const watch = ["get", "jobs", "-n", namespace, "-l", "app=streamed", "-w", "--output-watch-events"];
      const watching = followCommand(join(await controlPlaneAssets(), "kubectl"), watch, {
        env: { ...process.env, KUBECONFIG: subject.cluster.kubeconfigPath },
        timeoutMs: 60_000,
        until: /^DELETED +streamed/,
        onLine: () => watches.resolve(),
      });
      watching.catch(watches.reject);
      await watches.promise;
      await create("streamed");
      await run("delete", "job", "streamed");
      const lines = cells((await watching).join("\n")).map(([event, name]) => `${event} ${name}`);
      expect(lines).toEqual(["EVENT NAME", "ADDED first", "ADDED streamed", "DELETED streamed"]);
    });
  });
}
