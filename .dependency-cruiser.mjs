// The arrows of docs/architecture.md: cli, test, bench -> manager, worker-agent -> shared; sandbox -> shared.
const never = (name, from, to, comment) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: to },
});

export default {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-circular-folders",
      severity: "error",
      comment: "two folders that need each other are one; a folder and those inside it count as one here",
      scope: "folder",
      from: {
        path: "^(shared|manager|worker-agent|cli|sandbox|test|bench)/",
        // Tests stand beside the code and use its testing folder, which uses the code.
        pathNot: "/testing$",
      },
      to: { circular: true, pathNot: "/testing$" },
    },
    never(
      "shared-is-the-bottom",
      "^shared/",
      "^(manager|worker-agent|cli|sandbox|test|bench)/",
      "shared serves all and knows none",
    ),
    never(
      "manager-knows-no-agent",
      "^manager/",
      "^(worker-agent|cli|sandbox|test|bench)/",
      "they meet only through messages",
    ),
    never(
      "agent-knows-no-manager",
      "^worker-agent/",
      "^(manager|cli|sandbox|test|bench)/",
      "they meet only through messages",
    ),
    never(
      "sandbox-stands-alone",
      "^sandbox/",
      "^(manager|worker-agent|cli|test|bench)/",
      "the sandbox is a cluster, not a fleet",
    ),
    never("job-is-pure", "^shared/job/", "^(shared/(?!job/)|node:|undici|pino)", "the Job as data: no I/O, no clock"),
    never(
      "nothing-imports-tests",
      "^(shared|manager|worker-agent|cli|sandbox)/(?!.*[.]test[.]ts$)",
      "^(test|bench)/",
      "tests import products",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|node_modules/.cache)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node"],
      extensions: [".ts", ".mjs", ".js"],
    },
  },
};
