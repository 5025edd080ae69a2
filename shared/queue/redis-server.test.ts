import { expect, it } from "vitest";
import { judgeServer } from "./redis-server.ts";

const info = (fields: Record<string, string>): string =>
  `# Server\r\n${Object.entries({ redis_version: "8.2.2", maxmemory_policy: "noeviction", aof_enabled: "1", ...fields })
    .map(([key, value]) => `${key}:${value}`)
    .join("\r\n")}\r\n`;

const cases: Record<string, { fields: Record<string, string>; want: string[] }> = {
  "a fit server": { fields: {}, want: [] },
  "the first patched release of a line": { fields: { redis_version: "7.2.11" }, want: [] },
  "a later line": { fields: { redis_version: "8.4.0" }, want: [] },
  "an unpatched release": { fields: { redis_version: "7.4.5" }, want: ["error 7.4.6"] },
  "a line without upstream fixes (Debian back-ports)": {
    fields: { redis_version: "7.0.15" },
    want: ["warning back-ported"],
  },
  "patched Valkey": { fields: { redis_version: "7.2.4", valkey_version: "8.1.4" }, want: [] },
  "unpatched Valkey": { fields: { redis_version: "7.2.4", valkey_version: "8.0.1" }, want: ["error 8.0.6"] },
  "no version": { fields: { redis_version: "unknown" }, want: ["warning version"] },
  "an evicting server": { fields: { maxmemory_policy: "allkeys-lru" }, want: ["error noeviction"] },
  "no append-only file": { fields: { aof_enabled: "0" }, want: ["warning appendonly yes"] },
};

for (const [name, { fields, want }] of Object.entries(cases)) {
  it(name, () => {
    const findings = judgeServer(info(fields));
    expect(findings).toHaveLength(want.length);
    for (const [position, expected] of want.entries()) {
      const [severity, ...words] = expected.split(" ");
      expect(findings[position]?.severity).toBe(severity);
      expect(findings[position]?.message).toContain(words.join(" "));
    }
  });
}

it("says what it cannot see", () => {
  expect(judgeServer("").map(({ severity }) => severity)).toEqual(["warning", "warning", "warning"]);
});
