import { expect, it } from "vitest";
import { aHubJob } from "../testing/hub-job.ts";
import { bareOf } from "./watch.ts";

it("keeps of a Job that is not ours its identity alone, however large it is", () => {
  const annotations = { note: "x".repeat(200_000) };
  const job = aHubJob({
    metadata: { name: "theirs", namespace: "team", uid: "u1", resourceVersion: "7", annotations },
  });
  const bare = bareOf({ ...job, status: { succeeded: 1 } });
  expect(bare.metadata).toEqual({ name: "theirs", namespace: "team", uid: "u1", resourceVersion: "7" });
  expect(bare.spec.managedBy).toBe(job.spec.managedBy);
  expect(JSON.stringify(bare).length).toBeLessThan(300);
});
