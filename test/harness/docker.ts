import { runCommand } from "./run-command.ts";

/** The version of the Docker engine that answers, or undefined. */
export async function dockerVersion(): Promise<string | undefined> {
  const info = await runCommand("docker", ["info", "--format", "{{.ServerVersion}}"], { timeoutMs: 10_000 }).catch(
    () => undefined,
  );
  const version = info?.code === 0 ? info.stdout.trim() : "";
  return version === "" ? undefined : version;
}

export async function requireDocker(who: string): Promise<void> {
  if ((await dockerVersion()) === undefined)
    throw new Error(
      `${who} needs Docker, and "docker info" does not answer: start a Docker engine, or leave it unset.`,
    );
}
