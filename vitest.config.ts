import { defineConfig } from "vitest/config";

// quick: unit tests beside the code, no outside process. full: everything that needs Redis, a real API server or long loops.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "quick",
          include: ["{shared,manager,worker-agent,cli,sandbox,test}/**/*.test.ts"],
          exclude: ["**/node_modules/**", "**/*.real.test.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "full",
          include: ["{shared,manager,worker-agent,cli,sandbox,test}/**/*.real.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
