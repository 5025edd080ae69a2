import { expect, it } from "vitest";
import { readReadingRequest } from "./reading-request.ts";

const reading = { namespace: "team", name: "logs-x2f" };

it("the pods of a Job, and the log of one of them, are asked for by path", () => {
  expect(readReadingRequest("/readings/team/logs-x2f/pods")).toEqual({ reading, wants: "pods" });
  expect(readReadingRequest("/readings/team/logs-x2f/pods/pi-1/u-1/main?follow=true&tailLines=2")).toMatchObject({
    ...{ reading, wants: "log", pod: { name: "pi-1", uid: "u-1" }, container: "main" },
    options: { follow: true, tailLines: 2 },
  });
});

it.each([
  "/",
  "//evil/readings/team/x/pods",
  "/readings",
  "/readings/team/logs-x2f",
  "/readings/team/logs-x2f/secrets",
  "/readings/team/logs-x2f/pods/pi-1",
  "/readings/team/logs-x2f/pods/pi-1/u-1",
  "/readings/team/logs-x2f/pods/pi-1/u-1/main/more",
  "/readings/team/logs-x2f/pods/pi-1/u-1/..%2Fother",
  "/readings/te%61m/logs-x2f/pods",
  "/readings/TEAM/logs-x2f/pods",
  "/readings/team/logs-x2f/pods/../../../other/pods",
  `/readings/team/logs-x2f/pods/pi-1/u-1/${"c".repeat(64)}`,
  `/readings/team/logs-x2f/pods/pi-1/${"u".repeat(65)}/main`,
  "/readings/team/logs-x2f/pods/pi-1/%00/main",
  "/readings/team/logs-x2f/pods/pi-1/u-1/%zz",
])("%s is nothing that is answered", (url) => {
  expect(readReadingRequest(url)).toBeUndefined();
});
