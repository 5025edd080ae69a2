import { VirtualClock } from "../../runtime/virtual-clock.ts";
import type { KubeList, KubeObject, KubeStatus, ListOptions, WatchEvent } from "../api.ts";
import { Reflector, type ReflectorOptions } from "../reflector.ts";
import { namespaces } from "../resources.ts";
import { ScriptedApi, ScriptedWatch } from "./scripted-api.ts";

export const thing = (
  name: string,
  resourceVersion = "1",
  extra: Partial<KubeObject["metadata"]> = {},
): KubeObject => ({
  metadata: { name, namespace: "ns", uid: `uid-${name}`, resourceVersion, ...extra },
});
export const added = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "ADDED", object });
export const modified = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "MODIFIED", object });
export const deleted = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "DELETED", object });
export const bookmark = (resourceVersion: string): WatchEvent<KubeObject> => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion } },
});
export const expired: KubeStatus = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  reason: "Expired",
  message: "too old resource version",
  code: 410,
};
export const page = (items: KubeObject[], resourceVersion: string, token?: string): KubeList<KubeObject> => ({
  metadata: { resourceVersion, ...(token === undefined ? {} : { continue: token }) },
  items,
});

/** A reflector on scripted lists (a page, or an error, for each call in turn; the last one repeats) and hand-fed watches. */
export function scripted(lists: (KubeList<KubeObject> | Error)[], options: Partial<ReflectorOptions<KubeObject>> = {}) {
  const clock = new VirtualClock();
  const listed: ListOptions[] = [];
  const watches: ScriptedWatch[] = [];
  const heard: string[] = [];
  const stop = new AbortController();
  const api = new ScriptedApi({
    list: async (list) => {
      listed.push(list);
      const answer = lists[Math.min(listed.length, lists.length) - 1];
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    },
    watch: (watch) => {
      const stream = new ScriptedWatch(watch);
      watches.push(stream);
      return stream;
    },
  });
  const reflector = new Reflector({ api, resource: namespaces, clock, random: () => 1, ...options });
  const name = (object: KubeObject): string => `${object.metadata.name}@${object.metadata.resourceVersion}`;
  reflector.addHandler({
    added: (object) => heard.push(`+${name(object)}`),
    updated: (before, after) => heard.push(`${name(before)}>${name(after)}`),
    deleted: (last) => heard.push(`-${name(last)}`),
  });
  const done = reflector.start(stop.signal);
  const lastWatch = (): ScriptedWatch => {
    const watch = watches.at(-1);
    if (watch === undefined) throw new Error("no watch yet");
    return watch;
  };
  return { clock, listed, watches, heard, stop, reflector, done, lastWatch };
}
