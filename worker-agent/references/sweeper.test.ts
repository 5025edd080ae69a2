import type { Job } from "@jobferry/shared/job/types.ts";
import type { KubeApi, KubeObject, ObjectKey } from "@jobferry/shared/kube/api.ts";
import { ApiError } from "@jobferry/shared/kube/errors.ts";
import type { ReflectorHandler } from "@jobferry/shared/kube/reflector.ts";
import { COPY_LABEL } from "@jobferry/shared/protocol/marks.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import { copyKeysOf, type Mirrors } from "../mirrors.ts";
import { Sweeper } from "./sweeper.ts";

const NAME = "words-0123456789";
const mirror: Job = {
  metadata: { namespace: "team", name: "j" },
  spec: { template: { spec: { containers: [], volumes: [{ name: "v", configMap: { name: NAME } }] } } },
};
const copy = (name: string, labels: Record<string, string> = { [COPY_LABEL]: "true" }): KubeObject => ({
  metadata: { name, namespace: "team", uid: `uid-${name}`, labels },
});

/** A worker with these ConfigMaps and mirrors. */
function rig(objects: KubeObject[], mirrors: Job[] = [], mayList = (_namespace?: string) => true) {
  const clock = new VirtualClock();
  const here = new Map(objects.map((object) => [object.metadata.name ?? "", object]));
  let handler: ReflectorHandler<Job> = {};
  const pinned = new Set<string>();
  const api = {
    async get(_: unknown, { name }: ObjectKey) {
      const found = here.get(name);
      if (found === undefined) throw new ApiError(404, "NotFound", "");
      return found;
    },
    async list({ kind }: { kind: string }, { namespace }: { namespace?: string }) {
      if (kind === "Secret" || !mayList(namespace)) throw new ApiError(403, "Forbidden", "");
      if (namespace === "other") return { items: [], metadata: { resourceVersion: "1" } };
      const items = [...here.values()].filter(({ metadata }) => metadata.labels?.[COPY_LABEL] !== undefined);
      return { items, metadata: { resourceVersion: "1" } };
    },
    async delete(_: unknown, { name }: ObjectKey) {
      here.delete(name);
    },
  } as unknown as KubeApi;
  const sweeper = new Sweeper({
    api,
    clock,
    logger: silentLogger,
    mirrors: {
      reflector: { addHandler: (given: ReflectorHandler<Job>) => (handler = given) },
      use: (key: string) => mirrors.some((one) => copyKeysOf(one).some((used) => used === key)),
    } as unknown as Mirrors,
    maker: { isOurs: (_, { metadata }) => metadata.labels?.[COPY_LABEL] === "true" },
    served: async () => ["team", "other"],
    copies: { isPinned: (key) => pinned.has(key), removing: (_, remove) => remove() },
  });
  const leaves = (which: Job): void => {
    mirrors.splice(mirrors.indexOf(which), 1);
    handler.deleted?.(which);
  };
  return { clock, sweeper, leaves, pinned, names: () => [...here.keys()] };
}

it("a copy goes with the last mirror that refers to it", async () => {
  const second = { ...mirror, metadata: { namespace: "team", name: "k" } };
  const { clock, sweeper, leaves, names } = rig([copy(NAME)], [mirror, second]);
  sweeper.start();
  leaves(mirror);
  await clock.advance(60_000);
  expect(names()).toEqual([NAME]);
  leaves(second);
  await clock.advance(2_000);
  expect(names()).toEqual([]);
});

it("what nobody refers to goes when the agent starts, and later on; what is not our copy stays", async () => {
  const another = { [COPY_LABEL]: "another agent's" };
  const objects = [copy("left-0123456789"), copy("mine-0123456789", {}), copy("theirs-0123456789", another)];
  const { clock, sweeper, names } = rig(objects);
  sweeper.start();
  await clock.advance(1_000);
  expect(names()).toEqual(["mine-0123456789", "theirs-0123456789"]);
});

it("a lookalike that a mirror refers to is not removed with it", async () => {
  const { clock, sweeper, leaves, names } = rig([copy(NAME, {})], [mirror]);
  sweeper.start();
  leaves(mirror);
  await clock.advance(60_000);
  expect(names()).toEqual([NAME]);
});

it("a copy that a Job is about to use stays until that is settled", async () => {
  const { clock, sweeper, leaves, pinned, names } = rig([copy(NAME)], [mirror]);
  sweeper.start();
  pinned.add(`ConfigMap/team/${NAME}`);
  leaves(mirror);
  await clock.advance(30_000);
  expect(names()).toEqual([NAME]);
  pinned.clear();
  await clock.advance(60_000);
  expect(names()).toEqual([]);
});

it("an agent with rights in single namespaces finds there what a crash left behind", async () => {
  const { clock, sweeper, names } = rig([copy("left-0123456789")], [], (namespace) => namespace === "team");
  sweeper.start();
  await clock.advance(1_000);
  expect(names()).toEqual([]);
});
