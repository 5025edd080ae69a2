/** Utilisation, waiting Jobs and shares over time as an SVG; two fleets side by side, on the same scales. */
import type { Stretch } from "../engine/recorder.ts";
import type { Outcome } from "../engine/simulation.ts";

export interface Run {
  readonly name: string;
  readonly outcome: Outcome;
}

interface Line {
  readonly name: string;
  readonly color: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly top: number;
  readonly unit: "%" | "Jobs";
}

// Told apart also by those who do not see all colours (Okabe and Ito).
const COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933"];
/** More queues than colours would not be told apart: those with the most Jobs are drawn. */
const MOST_LINES = COLORS.length;
const [WIDTH, HEIGHT, LEFT, TOP, GAP, LEGEND] = [560, 200, 64, 48, 56, 22];

export function picture(runs: readonly Run[]): string {
  const untilMs = Math.max(1, ...runs.map(({ outcome }) => outcome.endMs));
  const columns = runs.map(({ name, outcome }) => ({
    name,
    lastArrivalMs: outcome.lastArrivalMs,
    panels: panelsOf(outcome),
  }));
  const most = Math.max(1, ...columns.map(({ panels }) => panels[1]?.top ?? 0));
  const rows = 3;
  const pitch = LEFT + WIDTH + 40;
  const [width, height] = [columns.length * pitch + 16, TOP + rows * (HEIGHT + GAP + LEGEND) + 16];
  const body = columns.map(({ name, panels, lastArrivalMs }, column) => {
    const heading = name === "" ? "" : text(LEFT, 24, name, { "font-size": 15, "font-weight": "bold" });
    const drawn = panels.map((panel, row) => {
      const top = row === 1 ? most : panel.top;
      return group(0, TOP + row * (HEIGHT + GAP + LEGEND), panelOf({ ...panel, top }, untilMs, lastArrivalMs));
    });
    return group(column * pitch + 8, 0, [heading, ...drawn].join("\n"));
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<title>Utilisation and waiting Jobs over time</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${body.join("\n")}
</svg>
`;
}

function panelsOf({ stretches, resources, capacity, queues, waitsMs }: Outcome): Panel[] {
  const line = (name: string, i: number, value: (stretch: Stretch) => number): Line => ({
    name,
    color: COLORS[i % COLORS.length] ?? "#000000",
    points: stretches.map((each) => ({ x: each.fromMs + each.ms / 2, y: value(each) })),
  });
  const shown = queues
    .map(({ name }, i) => ({ name, i, jobs: waitsMs[i]?.length ?? 0 }))
    .filter(({ jobs }) => jobs > 0)
    .sort((one, other) => other.jobs - one.jobs)
    .slice(0, MOST_LINES);
  const used = resources
    .slice(0, MOST_LINES)
    .map((name, i) => line(name, i, (each) => (100 * (each.used[i] ?? 0)) / (capacity[i] || 1)));
  const waiting = shown.map(({ name, i }, n) => line(name, n, (each) => each.queues[i]?.waiting ?? 0));
  const shares = shown.map(({ name, i }, n) => line(name, n, (each) => 100 * (each.queues[i]?.share ?? 0)));
  const highest = (lines: readonly Line[]): number =>
    Math.max(0, ...lines.flatMap(({ points }) => points.map(({ y }) => y)));
  return [
    { title: "Used, by resource (% of all nodes)", lines: used, top: 100, unit: "%" },
    { title: "Waiting for a cluster, by queue (Jobs)", lines: waiting, top: roundUp(highest(waiting)), unit: "Jobs" },
    { title: "Share, by queue (% of its dominant resource)", lines: shares, top: roundUp(highest(shares)), unit: "%" },
  ];
}

function panelOf({ title, lines, top, unit }: Panel, untilMs: number, lastArrivalMs: number): string {
  const x = (ms: number): number => LEFT + (WIDTH * ms) / untilMs;
  const y = (value: number): number => HEIGHT - (HEIGHT * Math.min(value, top)) / top;
  const parts = [text(LEFT, -8, title, { "font-weight": "bold" })];
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((part) => part * top)) {
    parts.push(
      `<line x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${fixed(y(value))}" y2="${fixed(y(value))}" stroke="#dddddd"/>`,
    );
    const label = `${Number(value.toPrecision(3)).toLocaleString("en")}${unit === "%" ? " %" : ""}`;
    parts.push(text(LEFT - 6, y(value) + 4, label, { "text-anchor": "end" }));
  }
  const { step, divisor, name } = timeScale(untilMs);
  for (let ms = 0; ms <= untilMs; ms += step) {
    parts.push(`<line x1="${fixed(x(ms))}" x2="${fixed(x(ms))}" y1="${HEIGHT}" y2="${HEIGHT + 4}" stroke="#333333"/>`);
    parts.push(text(x(ms), HEIGHT + 17, Number((ms / divisor).toFixed(2)).toString(), { "text-anchor": "middle" }));
  }
  parts.push(text(LEFT + WIDTH, HEIGHT + 31, name, { "text-anchor": "end" }));
  parts.push(`<rect x="${LEFT}" y="0" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#333333"/>`);
  if (lastArrivalMs > 0 && lastArrivalMs < untilMs * 0.995) {
    const at = fixed(x(lastArrivalMs));
    parts.push(`<line x1="${at}" x2="${at}" y1="0" y2="${HEIGHT}" stroke="#333333" stroke-dasharray="4 3"/>`);
    parts.push(text(x(lastArrivalMs) - 4, 13, "last Job comes", { "text-anchor": "end", fill: "#333333" }));
  }
  for (const { color, points } of lines) {
    const path = points.map((point) => `${fixed(x(point.x))},${fixed(y(point.y))}`).join(" ");
    parts.push(`<polyline points="${path}" fill="none" stroke="${color}" stroke-width="1.6"/>`);
  }
  let at = LEFT;
  for (const { name: label, color } of lines) {
    parts.push(`<rect x="${at}" y="${HEIGHT + 38}" width="14" height="4" fill="${color}"/>`);
    parts.push(text(at + 18, HEIGHT + 44, label, {}));
    at += 34 + 7 * label.length;
  }
  return parts.join("\n");
}

/** About ten marks, at times that people count in. */
function timeScale(untilMs: number): { step: number; divisor: number; name: string } {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  const [divisor, name] =
    untilMs > 4 * day ? [day, "days"] : untilMs > 4 * hour ? [hour, "hours"] : [minute, "minutes"];
  const raw = untilMs / divisor / 10;
  const steps = [0.1, 0.25, 0.5, 1, 2, 3, 6, 12, 15, 30, 60, 120, 240];
  return { step: divisor * (steps.find((each) => each >= raw) ?? Math.ceil(raw)), divisor, name };
}

function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 5, 8, 10].find((each) => each * power >= value) ?? 10);
}

const fixed = (value: number): string => value.toFixed(1);
const group = (x: number, y: number, inside: string): string => `<g transform="translate(${x} ${y})">\n${inside}\n</g>`;

function text(x: number, y: number, content: string, attributes: Readonly<Record<string, string | number>>): string {
  const list = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
  return `<text x="${fixed(x)}" y="${fixed(y)}"${list.join("")}>${escaped(content)}</text>`;
}

const escaped = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
