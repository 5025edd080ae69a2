import { expect, it } from "vitest";
import { inlineOf } from "./page.ts";
import { INLINE, TROUBLESHOOTING } from "./tables.ts";

it("every command in the text of docs/troubleshooting.md is run, or tables.ts says why not", () => {
  const unknown = inlineOf(TROUBLESHOOTING).filter(({ text }) => INLINE[text] === undefined);
  expect(unknown.map(({ at, text }) => `${at}: ${text}`)).toEqual([]);
});
