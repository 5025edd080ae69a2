/**
 * Real Kubernetes programs from source, through the Go module proxy alone: built once per version of the files here and
 * kept under XDG_CACHE_HOME.
 */
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cached, hashOf } from "./cache.ts";
import { findGo, type Go, type Report } from "./go.ts";

const here = import.meta.dirname;
const conformance = join(here, "../conformance");
const version = "1.36.3";
const programs = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubectl",
  "kubelet",
  "instant-pods",
];

const [major, minor] = version.split(".");
const stamp = [
  `k8s.io/component-base/version.gitVersion=v${version}`,
  `k8s.io/component-base/version.gitMajor=${major}`,
  `k8s.io/component-base/version.gitMinor=${minor}`,
  `k8s.io/client-go/pkg/version.gitVersion=v${version}`,
];
const linkerFlags = `-s -w ${stamp.map((setting) => `-X ${setting}`).join(" ")}`;

const toStandardError: Report = (line) => console.error(line);

/** A folder with etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, kubelet and instant-pods. */
export async function buildControlPlane(report: Report = toStandardError): Promise<string> {
  const files = await moduleFiles();
  return cached({
    kind: "control-plane",
    version: await hashOf(files, linkerFlags),
    waiting: (pid) => report(`control plane: waiting for process ${pid}, which is building it`),
    async fill(directory) {
      const go = await findGo(report);
      report(`control plane: building Kubernetes ${version} from source, once (about 8 minutes on 2 cores)`);
      const build = ["build", "-v", "-trimpath", "-ldflags", linkerFlags, "-o", join(directory, "kube"), "."];
      await go.run(here, build, "control plane");
      for (const program of programs) await symlink("kube", join(directory, program));
      report("control plane: built");
    },
  });
}

/** Kubernetes' own Job integration tests (a Go test binary), driving the controller that JOB_CONTROLLER names. */
export async function buildUpstreamSuite(report: Report = toStandardError): Promise<string> {
  const adapter = join(conformance, "external_controller_test.go");
  const directory = await cached({
    kind: "upstream-suite",
    version: await hashOf([...(await moduleFiles()), adapter, join(here, "build.ts")]),
    waiting: (pid) => report(`upstream suite: waiting for process ${pid}, which is building it`),
    async fill(draft) {
      const go = await findGo(report);
      report(
        `upstream suite: building the Job tests of Kubernetes ${version}, once (about 2 minutes after the control plane)`,
      );
      const module = join(draft, "module");
      await cp(here, module, { recursive: true, filter: (path) => !path.endsWith(".ts") });
      await mkdir(join(module, "suite"));
      await cp(adapter, join(module, "suite/external_controller_test.go"));
      await writeUpstreamTests(go, module);
      await go.run(
        module,
        ["test", "-v", "-c", "-trimpath", "-o", join(draft, "job.test"), "./suite"],
        "upstream suite",
      );
      report("upstream suite: built");
    },
  });
  return join(directory, "job.test");
}

async function moduleFiles(): Promise<string[]> {
  const names = await readdir(here, { recursive: true });
  return names
    .filter((name) => /(\.go|go\.mod|go\.sum)$/.test(name))
    .sort()
    .map((name) => join(here, name));
}

/** The in-process controller, its counters and the clean-up beside it give way to those of external_controller_test.go. */
const adaptations: { pattern: RegExp; replacement: string }[] = [
  {
    pattern: /^func (startJobControllerAndWaitForCaches|validateCounterMetric|resetMetrics|cleanUp)\(/gm,
    replacement: "func builtin_$1(",
  },
  {
    pattern: /^(\t+)jc, ctx, cancel := createJobControllerWithSharedInformers\(t, restConfig, informerSet\)/gm,
    replacement: "$1ctx, cancel := startExternalController(t, restConfig)",
  },
  { pattern: /^\t{3,}go jc\.Run\(ctx, 1\)\n/gm, replacement: "" },
];

async function writeUpstreamTests(go: Go, module: string): Promise<void> {
  await go.run(module, ["mod", "download", "k8s.io/kubernetes"], "upstream suite");
  const root = (await go.run(module, ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], "upstream suite")).trim();
  const upstream = join(root, "test/integration/job");
  let tests = await readFile(join(upstream, "job_test.go"), "utf8");
  for (const { pattern, replacement } of adaptations) {
    const adapted = tests.replace(pattern, replacement);
    if (adapted === tests) throw new Error(`Kubernetes ${version} has no ${pattern} in job_test.go: adapt build.ts`);
    tests = adapted;
  }
  await writeFile(join(module, "suite/job_test.go"), tests);
  await writeFile(join(module, "suite/main_test.go"), await readFile(join(upstream, "main_test.go")));
}
