/** Whether a Redis server is fit for use, judged from its INFO, the one command that says all of it. */

export interface Finding {
  /** `error`: do not start. `warning`: say so and go on. */
  readonly severity: "error" | "warning";
  readonly message: string;
}

/**
 * First release of each line in which Lua scripts cannot break out of the server (CVE-2025-49844). Agents are allowed to
 * run scripts, so an older one hands the whole fleet to whoever holds an agent's credentials.
 */
const PATCHED = {
  redis: ["6.2.20", "7.2.11", "7.4.6", "8.0.4", "8.2.2"],
  valkey: ["7.2.11", "8.0.6", "8.1.4"],
} as const;

export function judgeServer(info: string): Finding[] {
  const fields = parseInfo(info);
  const findings = [judgeEviction(fields), judgePersistence(fields), judgeVersion(fields)];
  return findings.filter((finding) => finding !== undefined);
}

function parseInfo(info: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of info.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

function judgeEviction(fields: Map<string, string>): Finding | undefined {
  const policy = fields.get("maxmemory_policy");
  if (policy === "noeviction") return undefined;
  if (policy === undefined) {
    return {
      severity: "warning",
      message: "Redis does not tell its maxmemory-policy; make sure that it is noeviction",
    };
  }
  return {
    severity: "error",
    message: `Redis drops keys when memory runs out (maxmemory-policy ${policy}), which would break queues; set it to noeviction`,
  };
}

function judgePersistence(fields: Map<string, string>): Finding | undefined {
  if (fields.get("aof_enabled") === "1") return undefined;
  return {
    severity: "warning",
    message: "Redis keeps no append-only file: a restart loses waiting messages and delays Jobs; set appendonly yes",
  };
}

function judgeVersion(fields: Map<string, string>): Finding | undefined {
  const valkey = fields.get("valkey_version");
  const product = valkey === undefined ? "redis" : "valkey";
  const version = valkey ?? fields.get("redis_version") ?? "";
  const [major, minor, patch] = version.split(".").map(Number);
  if (major === undefined || minor === undefined || patch === undefined || [major, minor, patch].some(Number.isNaN)) {
    return { severity: "warning", message: "Redis does not tell its version; make sure that it is a patched release" };
  }
  const lines = PATCHED[product].map((release) => release.split(".").map(Number) as [number, number, number]);
  const line = lines.find(([lineMajor, lineMinor]) => lineMajor === major && lineMinor === minor);
  if (line !== undefined) {
    if (patch >= line[2]) return undefined;
    return {
      severity: "error",
      message: `${product} ${version} lets a script take the server over (CVE-2025-49844); upgrade to ${line.join(".")} or later`,
    };
  }
  const newest = lines.at(-1);
  if (newest !== undefined && (major > newest[0] || (major === newest[0] && minor > newest[1]))) return undefined;
  return {
    severity: "warning",
    message: `${product} ${version} gets no fixes upstream: use it only if your distribution has back-ported CVE-2025-49844`,
  };
}
