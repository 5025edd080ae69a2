/** What deploy/monitoring ships, as data. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** As a rule file of Prometheus has them. */
export interface RuleGroups {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Alert[] }[];
}

const read = (file: string): string =>
  readFileSync(new URL(`../../deploy/monitoring/${file}`, import.meta.url), "utf8");

export const rulesOf = (folder: "hub" | "worker"): RuleGroups =>
  (parse(read(`${folder}/alerts.yaml`)) as { spec: RuleGroups }).spec;

export const allAlerts = (): Alert[] =>
  (["hub", "worker"] as const).flatMap((folder) => rulesOf(folder).groups.flatMap(({ rules }) => rules));

/** What the dashboard asks Prometheus. */
export function dashboardQueries(): string[] {
  const { panels } = JSON.parse(read("dashboard.json")) as { panels: { targets: { expr: string }[] }[] };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}
