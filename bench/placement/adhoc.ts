import { measure, percentile } from "./measure.ts";
const [w = 100, s = 100, c = 200, rounds = 100] = process.argv.slice(2).map(Number);
const f = await measure({ waiting: w, shapes: s, clusters: c }, rounds);
console.log(JSON.stringify({ size: f.size, turn: f.longestTurn, rss: f.rssMiB, placed: f.placed, arr: [0.5, 0.99, 1].map((p) => percentile(f.arrivals, p)) }));
for (const ch of f.changes) console.log(ch.name, (ch.cpuMs / ch.ms.length).toFixed(3), [0.5, 0.99, 1].map((p) => percentile(ch.ms, p).toFixed(2)).join(" "));
