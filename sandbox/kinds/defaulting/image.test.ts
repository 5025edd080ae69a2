import { expect, test } from "vitest";
import { defaultPullPolicy } from "./image.ts";

const digest = `@sha256:${"0".repeat(64)}`;
const cases: [string | undefined, string][] = [
  ["busybox", "Always"],
  ["busybox:latest", "Always"],
  ["busybox:1.36", "IfNotPresent"],
  ["reg.example:5000/team/app", "Always"],
  ["reg.example:5000/team/app:v1", "IfNotPresent"],
  [`busybox${digest}`, "IfNotPresent"],
  [`busybox:latest${digest}`, "Always"],
  ["Not An Image", "IfNotPresent"],
  ["", "IfNotPresent"],
  [undefined, "IfNotPresent"],
];
test.each(cases)("%j -> %s", (image, want) => {
  expect(defaultPullPolicy(image)).toBe(want);
});
