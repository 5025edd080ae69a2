import type { NodesReport } from "@jobferry/shared/protocol/node-shapes.ts";
import { expect, test } from "vitest";
import { NodesNews } from "./nodes-news.ts";

const aReport = (cpu: number, gpus = 8, nodes = 3): NodesReport => ({
  shapes: [
    {
      nodes,
      labels: {},
      taints: [],
      resources: ["nvidia.com/gpu", "cpu"],
      allocatable: [8, 64_000],
      free: [{ nodes, room: [gpus, cpu] }],
    },
  ],
  hiddenLabels: [],
  leftOut: 0,
});

test.each<[string, NodesReport, NodesReport, boolean]>([
  ["nothing", aReport(8000), aReport(8000), false],
  ["a small part of an empty node", aReport(64_000), aReport(63_000), false],
  ["the last bit of a full node", aReport(0), aReport(100), true],
  ["half of what is left", aReport(200), aReport(100), true],
  ["a free GPU", aReport(8000, 7), aReport(8000, 6), true],
  ["a node", aReport(8000), aReport(8000, 8, 4), true],
  ["a label", aReport(8000), { ...aReport(8000), hiddenLabels: ["disktype"] }, true],
])("a change of %s is told or not", (_, before, after, told) => {
  const news = new NodesNews();
  expect(news.isDue(before, 0)).toBe(true);
  news.sent(before, 0);
  expect(news.isDue(after, 5000)).toBe(told);
});

test("what was not sent is still news, and everything is said again after a minute", () => {
  const news = new NodesNews();
  const report = aReport(8000);
  expect(news.isDue(report, 0)).toBe(true);
  expect(news.isDue(report, 5000)).toBe(true);
  news.sent(report, 5000);
  expect(news.isDue(report, 64_999)).toBe(false);
  expect(news.isDue(report, 65_000)).toBe(true);
});
