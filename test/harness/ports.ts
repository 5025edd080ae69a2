import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** Ports of 127.0.0.1 that were free a moment ago, all different. Whoever starts a server on one must be ready to lose it. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** Runs `start` with fresh ports until it does not fail because another process took one of them first. */
export async function withFreePorts<T>(count: number, start: (ports: number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      if (attempt === 5 || !(error instanceof PortTakenError)) throw error;
    }
  }
}

export class PortTakenError extends Error {
  override name = "PortTakenError";
}

export const saysPortTaken = (log: string): boolean => /address already in use|EADDRINUSE/i.test(log);
