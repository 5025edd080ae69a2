/** Who can write to Redis, and has no key, sends again what an agent said: it is nothing. */
import { workerClusters } from "@jobferry/shared/api/fleet-resources.ts";
import { pods } from "@jobferry/shared/kube/resources.ts";
import { openDelivery, openReport } from "@jobferry/shared/protocol/codec.ts";
import type { Delivery } from "@jobferry/shared/protocol/delivery.ts";
import { parseClusterName } from "@jobferry/shared/protocol/names.ts";
import type { Report } from "@jobferry/shared/protocol/report.ts";
import { Sealer } from "@jobferry/shared/protocol/sealer.ts";
import { afterEach, expect, it } from "vitest";
import { Fleet, type FleetOptions } from "./fleet.ts";

const EAST = parseClusterName("east");
const reports = { cluster: EAST, box: "reports" } as const;
let fleet: Fleet;
afterEach(() => fleet.stop());

interface Captured {
  readonly text: string;
  readonly report: Report;
}

/** A fleet whose bus has an eavesdropper. */
async function overheard(options: FleetOptions = {}): Promise<Captured[]> {
  fleet = new Fleet({ spec: { lostAfter: "30s" }, behaviour: () => ({ runMs: 36_000_000, stopMs: 100 }), ...options });
  const captured: Captured[] = [];
  fleet.bus.fate = (address, text) => {
    if (address.cluster !== EAST || address.box !== "reports") return [0];
    const { keys } = fleet.workers.get(EAST) ?? {};
    if (keys !== undefined)
      captured.push({ text, report: openReport(text, EAST, new Sealer([fleet.managerKeys]), [keys.publicKey]) });
    return [0];
  };
  await fleet.start();
  return captured;
}

const conditionOf = async (type: string): Promise<string | undefined> =>
  (await fleet.hub.api.get(workerClusters, { name: EAST })).status?.conditions?.find((one) => one.type === type)
    ?.status;

const ofKind = (captured: readonly Captured[], kind: Report["kind"]): string[] =>
  captured.filter(({ report }) => report.kind === kind).map(({ text }) => text);

it("heartbeats that are sent again do not keep a dead cluster alive: its Jobs move on", async () => {
  const captured = await overheard();
  await fleet.submit("long", {}, { annotations: { "jobferry.dev/cluster-selector": "name in (east,west)" } });
  await fleet.until(async () => (await fleet.mirrors("long")).length === 1);
  const [before] = await fleet.mirrors("long");
  await fleet.clock.advance(20_000);
  const victim = before?.cluster === "east" ? "east" : undefined;
  await fleet.stopAgent("east");
  const everything = [...ofKind(captured, "hello"), ...ofKind(captured, "heartbeat"), ...ofKind(captured, "status")];
  expect(everything.length).toBeGreaterThan(4);
  fleet.bus.fate = () => [0];
  for (let round = 0; round < 40; round++) {
    for (const text of everything) await fleet.bus.send(reports, text);
    await fleet.clock.advance(5_000);
  }
  expect(await conditionOf("Connected")).toBe("False");
  expect(await conditionOf("Ready")).toBe("False");
  if (victim !== undefined)
    await fleet.until(async () => (await fleet.mirrors("long")).some(({ cluster }) => cluster === "west"));
});

it("heartbeats that were kept back, and are let out one by one, buy a minute and no more", async () => {
  await overheard();
  const kept: string[] = [];
  await fleet.clock.advance(10_000);
  fleet.bus.fate = ({ cluster, box }, text) => {
    if (cluster !== EAST || box !== "reports") return [0];
    kept.push(text);
    return [];
  };
  await fleet.clock.advance(300_000);
  await fleet.stopAgent("east");
  fleet.bus.fate = () => [0];
  for (const text of kept) {
    await fleet.bus.send(reports, text);
    await fleet.clock.advance(5_000);
  }
  expect(await conditionOf("Connected")).toBe("False");
});

it("a heartbeat of better days does not change the room of a cluster", async () => {
  const captured = await overheard();
  await fleet.clock.advance(20_000);
  const old = [...ofKind(captured, "hello"), ...ofKind(captured, "heartbeat")];
  const spec = {
    restartPolicy: "Never" as const,
    containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "8" } } }],
  };
  // Not ours: only the agent can tell that there is no room any more.
  await fleet.workers.get("east")?.cluster.api.create(pods, "default", { metadata: { name: "hog" }, spec });
  await fleet.clock.advance(40_000);
  expect((await fleet.hub.api.get(workerClusters, { name: EAST })).status?.free?.cpu).toBe("0m");
  // Just after a true one, so that the next true one does not set it right.
  const count = captured.length;
  await fleet.until(async () => captured.slice(count).some(({ report }) => report.kind === "heartbeat"));
  for (const text of old) await fleet.bus.send(reports, text);
  await fleet.submit(
    "second",
    { template: { spec } },
    { annotations: { "jobferry.dev/cluster-selector": "name=east" } },
  );
  await fleet.clock.advance(2_000);
  expect(await fleet.mirrors("second")).toEqual([]);
});

it("a new leader hears its clusters within seconds, and so does one whose agent was restarted", async () => {
  await overheard();
  expect(await conditionOf("Connected")).toBe("True");
  await fleet.stopManager();
  fleet.startManager();
  await fleet.clock.advance(7_000);
  expect(await conditionOf("Connected")).toBe("True");
  await fleet.submit("after", {}, { annotations: { "jobferry.dev/cluster-selector": "name=east" } });
  await fleet.until(async () => (await fleet.mirrors("after")).length === 1, 5_000);
  await fleet.stopAgent("east");
  await fleet.clock.advance(60_000);
  expect(await conditionOf("Connected")).toBe("False");
  fleet.startAgent("east");
  await fleet.clock.advance(2_000);
  expect(await conditionOf("Connected")).toBe("True");
});

it("an agent that says hello all the time has its Jobs looked at every five seconds, and no more often", async () => {
  await overheard();
  await fleet.clock.advance(30_000);
  const { keys } = fleet.workers.get(EAST) ?? {};
  const told: Delivery["kind"][] = [];
  fleet.bus.fate = ({ cluster, box }, text) => {
    if (cluster === EAST && box === "deliveries" && keys !== undefined)
      told.push(openDelivery(text, EAST, new Sealer([keys]), [fleet.managerKeys.publicKey]).kind);
    return [0];
  };
  for (let second = 0; second < 30; second++) {
    await fleet.stopAgent("east");
    fleet.startAgent("east");
    await fleet.clock.advance(1_000);
  }
  expect(told.filter((kind) => kind === "challenge").length).toBeGreaterThan(20);
  const inventories = told.filter((kind) => kind === "inventory").length;
  expect(inventories).toBeGreaterThan(4);
  expect(inventories).toBeLessThan(12);
});
