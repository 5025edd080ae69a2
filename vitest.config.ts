import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { MUTANTS, mutated } from "./test/faults/mutants/mutants.ts";
import { compileCache } from "./test/harness/compile-cache.ts";

// A control plane start takes a core for three seconds: more files at once than cores only makes timeouts tight.
const maxWorkers = Math.min(4, Math.max(2, availableParallelism()));

// A known bug by its name, brought back for one run (test/faults/mutants).
const { edits = [] } = MUTANTS.find(({ name }) => name === process.env.JOBFERRY_MUTANT) ?? {};
const plugins =
  edits.length === 0
    ? []
    : [
        {
          name: "mutant",
          enforce: "pre" as const,
          transform: (source: string, path: string) => mutated(edits, path, source),
        },
      ];

// Longer than a test waits for any one thing on a machine several times slower: that wait says what is missing.
const patient = { testTimeout: 300_000, hookTimeout: 300_000 };
// Scenarios that share a fleet mostly wait.
const maxConcurrency = 8;

// quick: unit tests beside the code, no outside process. full: everything that needs Redis, a real API server or long loops.
// nightly: minutes of the same, by `npm run test:nightly`.
const nightly = "**/*.nightly.test.ts";
export default defineConfig({
  test: {
    projects: [
      {
        plugins,
        test: {
          name: "quick",
          include: ["{shared,manager,worker-agent,cli,sandbox,test,bench,scripts}/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.real.test.ts", nightly],
          setupFiles: ["test/harness/property-seed.ts"],
          testTimeout: 60_000,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        plugins,
        test: {
          name: "full",
          include: ["{shared,manager,worker-agent,cli,sandbox,test,scripts}/**/*.real.test.ts"],
          exclude: ["**/node_modules/**"],
          env: compileCache,
          globalSetup: ["test/harness/global-setup.ts", "test/real-node/global-setup.ts"],
          setupFiles: ["test/harness/property-seed.ts"],
          ...patient,
          maxWorkers,
          maxConcurrency,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: "nightly",
          include: [nightly],
          exclude: ["**/node_modules/**"],
          env: compileCache,
          globalSetup: ["test/harness/global-setup.ts", "test/real-node/global-setup.ts"],
          ...patient,
          maxWorkers: 1,
          maxConcurrency,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
