/** Where a process spent its time, from the profile that `node --cpu-prof` writes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HotSpot } from "./figures.ts";

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const SHOWN = 25;
const IDLE = "(idle)";

export async function hotSpots(directory: string): Promise<HotSpot[]> {
  const [file] = (await readdir(directory)).filter((name) => name.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("the profiled controller left no profile: it did not end by itself");
  return summarise(JSON.parse(await readFile(join(directory, file), "utf8")) as CpuProfile);
}

function summarise({ nodes, samples, timeDeltas }: CpuProfile): HotSpot[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const self = new Map<string, { name: string; place: string; micros: number }>();
  let busy = 0;
  for (const [position, id] of samples.entries()) {
    const frame = frames.get(id);
    const micros = timeDeltas[position] ?? 0;
    if (frame === undefined || frame.functionName === IDLE) continue;
    busy += micros;
    const name = frame.functionName || "(anonymous)";
    const place = placeOf(frame.url);
    // Functions without a name are told apart by their line.
    const key = `${name} ${place} ${frame.functionName ? "" : frame.lineNumber}`;
    const spot = self.get(key) ?? { name, place, micros: 0 };
    spot.micros += micros;
    self.set(key, spot);
  }
  return [...self.values()]
    .sort((a, b) => b.micros - a.micros)
    .slice(0, SHOWN)
    .map(({ name, place, micros }) => ({ name, place, share: micros / busy }));
}

/** A path within this repository or within a package; nothing of the machine. */
function placeOf(url: string): string {
  if (url === "") return "V8";
  if (url.startsWith("node:")) return url;
  const inPackage = url.lastIndexOf("node_modules/");
  if (inPackage !== -1) return url.slice(inPackage + "node_modules/".length);
  const root = new URL("../../", import.meta.url).href;
  return url.startsWith(root) ? url.slice(root.length) : (url.split("/").at(-1) ?? url);
}
