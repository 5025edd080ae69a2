import type { KubeApi } from "@jobferry/shared/kube/api.ts";
import { silentLogger } from "@jobferry/shared/runtime/logger.ts";
import { VirtualClock } from "@jobferry/shared/runtime/virtual-clock.ts";
import { expect, it } from "vitest";
import type { Mirrors } from "../intake/mirrors.ts";
import { Contact } from "./contact.ts";

const aContact = (clock: VirtualClock): Contact =>
  new Contact({ api: {} as KubeApi, clock, logger: silentLogger, mirrors: {} as Mirrors });

it("takes for an answer only what gives back a word of this process, said since it was last cut off", async () => {
  const clock = new VirtualClock();
  const [contact, predecessor] = [aContact(clock), aContact(clock)];
  const first = contact.stamp();
  expect(contact.isAnswer(first)).toBe(true);
  for (const other of [undefined, "", "x", predecessor.stamp()]) expect(contact.isAnswer(other)).toBe(false);
  await clock.advance(5_000);
  contact.cutOff();
  expect(contact.isAnswer(first)).toBe(false);
  expect(contact.isAnswer(contact.stamp())).toBe(true);
});
