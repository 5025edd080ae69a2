/** `npm audit` of what is shipped. Where nobody can be asked it says so in one line, and is no failure; it never waits for long. */
import { execFile } from "node:child_process";
import { root } from "./run.ts";

const DEADLINE_MS = 60_000;
const SERIOUS = ["high", "critical"] as const;

interface Answer {
  readonly vulnerabilities?: Record<string, { severity: string; range?: string }>;
  readonly error?: { code?: string; summary?: string };
  readonly message?: string;
}

/** What `npm audit --json` said: which packages have serious faults, or why nobody knows. */
export function judgeAudit(said: string): { serious: string[] } | { skipped: string } {
  let answer: Answer;
  try {
    answer = JSON.parse(said) as Answer;
  } catch {
    return { skipped: said.trim() === "" ? "no answer" : said.trim().slice(0, 200) };
  }
  if (answer.vulnerabilities === undefined)
    return {
      skipped: answer.error?.summary || answer.error?.code || answer.message || "the registry does not know audits",
    };
  const serious = Object.entries(answer.vulnerabilities).filter(([, { severity }]) =>
    SERIOUS.some((each) => each === severity),
  );
  return { serious: serious.map(([name, { severity, range = "" }]) => `${name} ${range}: ${severity}`) };
}

function ask(): Promise<string> {
  const args = ["audit", "--omit=dev", "--json", "--fetch-retries=0", `--fetch-timeout=${DEADLINE_MS / 2}`];
  return new Promise((resolve) => {
    execFile("npm", args, { cwd: root, timeout: DEADLINE_MS, killSignal: "SIGKILL" }, (_error, stdout) =>
      resolve(stdout),
    );
  });
}

if (process.argv[1] === import.meta.filename) {
  const found = judgeAudit(await ask());
  if ("skipped" in found) console.log(`skip npm audit: ${found.skipped}`);
  else if (found.serious.length === 0) console.log("ok   npm audit: nothing serious is known of what is shipped");
  else {
    console.error(`npm audit: ${found.serious.join("; ")}. Upgrade them: npm audit fix`);
    process.exitCode = 1;
  }
}
