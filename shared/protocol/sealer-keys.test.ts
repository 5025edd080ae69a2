/** How often keys are derived: once for a peer's salt, and never again while it is in use. */
import { expect, it, vi } from "vitest";
import { generateKeyPair } from "./keys.ts";
import { parseClusterName, type Route } from "./names.ts";
import { Sealer } from "./sealer.ts";

const derivations = vi.hoisted(() => ({ count: 0 }));
vi.mock("node:crypto", async (original) => {
  const crypto = await original<typeof import("node:crypto")>();
  const hkdfSync: typeof crypto.hkdfSync = (...args) => {
    derivations.count++;
    return crypto.hkdfSync(...args);
  };
  return { ...crypto, hkdfSync };
});

const [manager, agent] = [generateKeyPair(), generateKeyPair()];
const route: Route = { direction: "report", cluster: parseClusterName("east") };

function derivationsOf(work: () => void): number {
  const before = derivations.count;
  work();
  return derivations.count - before;
}

it("one for what is sealed, one for what is opened", () => {
  const [sender, receiver] = [new Sealer([agent]), new Sealer([manager])];
  const exchange = (): string => receiver.open(sender.seal("x", route, manager.publicKey), route, [agent.publicKey]);
  expect(derivationsOf(exchange)).toBe(2);
  for (let times = 0; times < 10; times++) expect(derivationsOf(exchange)).toBe(0);
});

it("salts that a forger makes up are not kept, and push no true one out", () => {
  const receiver = new Sealer([manager], { keptKeys: 4 });
  const envelope = new Sealer([agent]).seal("x", route, manager.publicKey);
  const open = (text: string): string => receiver.open(text, route, [agent.publicKey]);
  expect(derivationsOf(() => open(envelope))).toBe(1);
  const salt = envelope.split(" ")[6] ?? "";
  for (let times = 0; times < 20; times++) {
    const forged = envelope.replace(salt, times.toString(16).padStart(43, "A"));
    expect(() => open(forged)).toThrow(/the seal is broken/);
  }
  expect(derivationsOf(() => open(envelope))).toBe(0);
});
