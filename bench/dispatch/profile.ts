/** Which parts of a program its time went to, from the profile that `node --cpu-prof` writes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface PartShare {
  /** A package, a folder of this repository, or one of V8's own activities. */
  readonly part: string;
  /** Of the time the process was not idle. */
  readonly share: number;
}

interface Frame {
  readonly functionName: string;
  readonly url: string;
}

export interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const IDLE = "(idle)";

export async function partsOf(directory: string): Promise<PartShare[]> {
  const [file] = (await readdir(directory)).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("the profiled program left no profile: it did not end by itself");
  return summarise(JSON.parse(await readFile(join(directory, file), "utf8")) as CpuProfile);
}

/** A sample counts for the innermost package or folder on its stack: a system call for whoever made it. */
export function summarise({ nodes, samples, timeDeltas }: CpuProfile): PartShare[] {
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const known = new Map<number, string>();
  const partOf = (id: number): string => {
    const found = known.get(id) ?? ownPart(byId.get(id)) ?? inherited(parents.get(id));
    known.set(id, found);
    return found;
  };
  const inherited = (parent: number | undefined): string => (parent === undefined ? "Node itself" : partOf(parent));
  const micros = new Map<string, number>();
  let busy = 0;
  for (const [position, id] of samples.entries()) {
    const part = partOf(id);
    if (part === IDLE) continue;
    const delta = timeDeltas[position] ?? 0;
    busy += delta;
    micros.set(part, (micros.get(part) ?? 0) + delta);
  }
  return [...micros].map(([part, time]) => ({ part, share: time / busy })).sort((a, b) => b.share - a.share);
}

/** Undefined for Node's and V8's own functions, which work for whoever called them. */
function ownPart(frame: Frame | undefined): string | undefined {
  if (frame === undefined) return undefined;
  const { functionName, url } = frame;
  if (functionName === IDLE) return IDLE;
  if (functionName === "(garbage collector)") return "garbage collection";
  if (/^node:internal\/(modules|deps|bootstrap)/.test(url)) return "loading the program";
  if (!url.startsWith("file:")) return undefined;
  const inPackage = url.lastIndexOf("node_modules/");
  if (inPackage !== -1) return /^(@[^/]+\/)?[^/]+/.exec(url.slice(inPackage + "node_modules/".length))?.[0];
  const [first, second] = url.slice(new URL("../../", import.meta.url).href.length).split("/");
  return second === undefined || second.endsWith(".ts") ? first : `${first}/${second}`;
}
