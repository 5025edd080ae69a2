import type { AssignmentDelivery } from "@jobferry/shared/protocol/delivery.ts";
import { epoch, hubUid } from "@jobferry/shared/protocol/names.ts";
import { expect, it } from "vitest";
import { NewestDeliveries } from "./newest.ts";

const uid = hubUid.parse("u1");
const delivery = (number: number, revision: number, desired: "run" | "hand-over" = "run"): AssignmentDelivery => {
  const about = { kind: "assignment", uid, epoch: epoch.parse(number), revision } as const;
  if (desired === "hand-over") return { ...about, desired };
  const job = { spec: { template: { spec: { containers: [] } } } };
  return { ...about, desired, generation: 1, namespace: "team", name: "pi", job };
};

it.each<[string, AssignmentDelivery[], boolean]>([
  ["the same again", [delivery(1, 5), delivery(1, 5)], true],
  ["a newer revision", [delivery(1, 5), delivery(1, 6)], true],
  ["an older revision", [delivery(1, 6), delivery(1, 5)], false],
  ["a newer epoch", [delivery(1, 6), delivery(2, 7)], true],
  ["an older epoch", [delivery(2, 6), delivery(1, 7)], false],
  ["run after hand-over", [delivery(1, 5, "hand-over"), delivery(1, 6)], false],
  ["hand-over after hand-over", [delivery(1, 5, "hand-over"), delivery(1, 5, "hand-over")], true],
  ["run in the epoch after hand-over", [delivery(1, 5, "hand-over"), delivery(2, 6)], true],
])("%s", (_, deliveries, taken) => {
  const newest = new NewestDeliveries();
  expect(deliveries.map((each) => newest.take(each)).at(-1)).toBe(taken);
});

it("what has ended does not run again in its epoch", () => {
  const newest = new NewestDeliveries();
  newest.take(delivery(1, 5));
  newest.end({ uid, epoch: epoch.parse(1) });
  expect(newest.take(delivery(1, 5))).toBe(false);
  expect(newest.take(delivery(2, 6))).toBe(true);
});

it("an old end does not stop a newer epoch", () => {
  const newest = new NewestDeliveries();
  newest.take(delivery(2, 5));
  newest.end({ uid, epoch: epoch.parse(1) });
  expect(newest.take(delivery(2, 5))).toBe(true);
});
