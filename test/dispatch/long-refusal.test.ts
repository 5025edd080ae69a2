import { ApiError } from "@jobferry/shared/kube/errors.ts";
import { jobs } from "@jobferry/shared/kube/resources.ts";
import { MESSAGE } from "@jobferry/shared/protocol/marks.ts";
import { expect, it } from "vitest";
import { Fleet } from "./fleet.ts";

it.each([1_000, 5_000, 500_000])("a refusal in %i characters is cut, and the Job goes elsewhere", async (length) => {
  const fleet = new Fleet();
  const startAgent = fleet.startAgent.bind(fleet);
  fleet.startAgent = (name, keys) => {
    const cluster = fleet.workers.get(name)?.cluster;
    if (name === "east" && cluster !== undefined) {
      const api = cluster.apiFor("agent");
      const create: typeof api.create = async (resource, ...rest) => {
        if (resource.plural === jobs.plural) throw new ApiError(403, "Forbidden", `denied: ${"y".repeat(length)}`);
        return await api.create(resource, ...rest);
      };
      const refusing = new Proxy(api, {
        get: (target, field) => {
          const found: unknown = field === "create" ? create : Reflect.get(target, field);
          return typeof found === "function" ? found.bind(target) : found;
        },
      });
      cluster.apiFor = () => refusing;
    }
    startAgent(name, keys);
  };
  await fleet.start();
  try {
    await fleet.submit("j", {}, { annotations: { "jobferry.dev/cluster-selector": "name=east" } });
    await fleet.until(
      async () => /refused/.test((await fleet.job("j"))?.metadata.annotations?.[MESSAGE] ?? ""),
      30_000,
    );
    await fleet.edit("j", { metadata: { annotations: { "jobferry.dev/cluster-selector": "name in (east,west)" } } });
    await fleet.untilFinished("j", 60_000);
    expect((await fleet.job("j"))?.metadata.annotations?.["jobferry.dev/cluster"]).toBe("west");
  } finally {
    await fleet.stop();
  }
});
