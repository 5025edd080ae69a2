/** Prometheus' own promtool says whether the rules are rules, and when they fire. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stringify } from "yaml";
import { installPackages } from "../harness/apt.ts";
import { runCommand } from "../harness/run-command.ts";
import { allAlerts, rulesOf } from "./monitoring.ts";

const isThere = async (): Promise<boolean> =>
  (await runCommand("promtool", ["--version"]).catch(() => undefined))?.code === 0;
const hasPromtool =
  (await isThere()) || ((await installPackages("promtool", ["prometheus"], console.log)) && (await isThere()));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "jobferry-alerts-"));
  for (const folder of ["hub", "worker"] as const)
    await writeFile(join(directory, `${folder}.yaml`), stringify(rulesOf(folder)));
});
afterAll(() => rm(directory, { recursive: true }));

interface Case {
  /** One value a minute, in promtool's short form. */
  readonly series: Record<string, string>;
  readonly at: string;
  readonly fires: Record<string, object[]>;
}

const EAST = { cluster: "east" };
const healthy = {
  'jobferry_pending_jobs{queue="default"}': "0x200",
  'jobferry_cluster_connected{cluster="east"}': "1x200",
  'jobferry_cluster_set_aside{cluster="east"}': "0x200",
  jobferry_loss_timers_frozen: "0x200",
};
const cases: Record<string, Case> = {
  "nothing on a fleet that is well": { series: healthy, at: "90m", fires: {} },
  "when nobody leads": {
    series: { jobferry_loss_timers_frozen: "0x200" },
    at: "10m",
    fires: { JobferryNoLeader: [{}] },
  },
  "when a cluster is silent": {
    series: { ...healthy, 'jobferry_cluster_connected{cluster="east"}': "1x10 0x20" },
    at: "20m",
    fires: { JobferryClusterDisconnected: [EAST] },
  },
  "when all clusters are silent": {
    series: { ...healthy, jobferry_loss_timers_frozen: "0x10 1x20" },
    at: "15m",
    fires: { JobferryLossTimersFrozen: [{}] },
  },
  "when Jobs left a lost cluster": {
    series: { ...healthy, 'jobferry_evicted_jobs_total{cluster="east",queue="default",reason="lost"}': "0x10 3x20" },
    at: "15m",
    fires: { JobferryJobsLost: [EAST] },
  },
  "when a cluster fails Job after Job": {
    series: { ...healthy, 'jobferry_cluster_set_aside{cluster="east"}': "1x20" },
    at: "10m",
    fires: { JobferryClusterSetAside: [EAST] },
  },
  "when Jobs wait for an hour and none starts": {
    series: {
      ...healthy,
      'jobferry_pending_jobs{queue="night"}': "2x200",
      'jobferry_pending_jobs{queue="day"}': "2x200",
      'jobferry_admitted_jobs_total{queue="day",cluster="east"}': "0+1x200",
    },
    at: "90m",
    fires: { JobferryQueueStuck: [{ queue: "night" }] },
  },
  "when messages pile up": {
    series: { ...healthy, 'jobferry_box_bytes{cluster="east",box="deliveries"}': "40000000x20" },
    at: "10m",
    fires: { JobferryBoxFilling: [{ ...EAST, box: "deliveries" }] },
  },
  "when messages are refused, but not because they are late": {
    series: {
      ...healthy,
      'jobferry_messages_refused_total{cluster="east",code="protocol/unknown-key"}': "0+2x60",
      'jobferry_messages_refused_total{cluster="west",code="report/stale"}': "0+9x60",
    },
    at: "50m",
    fires: { JobferryMessagesRefused: [{ ...EAST, code: "protocol/unknown-key" }] },
  },
  "when one Job is worked on without an end": {
    series: {
      ...healthy,
      'workqueue_longest_running_processor_seconds{name="hub-jobs"}': "0+60x60",
      'workqueue_longest_running_processor_seconds{name="events"}': "0+60x60",
    },
    at: "30m",
    fires: { JobferryWorkStuck: [{ name: "hub-jobs" }] },
  },
  "when the API server fails": {
    series: {
      ...healthy,
      'rest_client_requests_total{pod="jobferry-manager-1",code="500"}': "0+1x60",
      'rest_client_requests_total{pod="jobferry-manager-1",code="200"}': "0+2x60",
      'rest_client_requests_total{pod="another",code="500"}': "0+9x60",
    },
    at: "30m",
    fires: { JobferryApiErrors: [{ pod: "jobferry-manager-1" }] },
  },
};

it.skipIf(!hasPromtool)("promtool (package prometheus) takes the rules", async () => {
  const { code, stderr } = await runCommand("promtool", ["check", "rules", ...ruleFiles()]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

it.skipIf(!hasPromtool).each(Object.entries(cases))("promtool (package prometheus): fires %s", async (name, one) => {
  const all = allAlerts();
  const alert_rule_test = all.map(({ alert }) => ({
    alertname: alert,
    eval_time: one.at,
    exp_alerts: expected(alert, one),
  }));
  const input_series = Object.entries(one.series).map(([series, values]) => ({ series, values }));
  const file = join(directory, `${name.replace(/\W+/g, "-")}.yaml`);
  const tests = [{ interval: "1m", input_series, alert_rule_test }];
  await writeFile(file, stringify({ rule_files: ruleFiles(), evaluation_interval: "1m", tests }));
  const { code, stdout, stderr } = await runCommand("promtool", ["test", "rules", file]);
  expect(`${stdout}${stderr}`).toContain("SUCCESS");
  expect(code).toBe(0);
});

const ruleFiles = (): string[] => ["hub", "worker"].map((folder) => join(directory, `${folder}.yaml`));

function expected(alert: string, { fires }: Case): object[] {
  const found = allAlerts().find((each) => each.alert === alert);
  return (fires[alert] ?? []).map((labels) => ({
    exp_labels: { ...labels, severity: found?.labels.severity },
    exp_annotations: filled(found?.annotations ?? {}, labels as Record<string, string>),
  }));
}

const filled = (annotations: object, labels: Record<string, string>): object =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [
      name,
      String(text).replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? ""),
    ]),
  );

it("has a case for each alert", () => {
  const fired = Object.values(cases).flatMap(({ fires }) => Object.keys(fires));
  expect(new Set(fired)).toEqual(new Set(allAlerts().map(({ alert }) => alert)));
});
