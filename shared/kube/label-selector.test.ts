import { describe, expect, it } from "vitest";
import { parseLabelSelector, SelectorError } from "./label-selector.ts";

const selects = (selector: string, labels: Record<string, string> | undefined): boolean =>
  parseLabelSelector(selector)?.(labels) ?? true;

describe("label selectors", () => {
  const labels = { app: "web", tier: "2", "example.com/x": "" };
  const cases: [string, boolean][] = [
    ["", true],
    ["app", true],
    ["!app", false],
    ["other", false],
    ["!other", true],
    ["app=web", true],
    ["app==web", true],
    ["app = web , tier=2", true],
    ["app=web,tier=3", false],
    ["app!=web", false],
    ["other!=web", true],
    ["app in (db, web)", true],
    ["app notin (db,web)", false],
    ["other notin (db)", true],
    ["example.com/x=", true],
    ["example.com/x in ()", true],
    ["tier>1", true],
    ["tier>2", false],
    ["tier<3", true],
    ["app>1", false],
    ["toString", false],
  ];
  it.each(cases)("%s", (selector, wanted) => {
    expect(selects(selector, labels)).toBe(wanted);
  });

  it("treats an object without labels as one without any", () => {
    expect(selects("!app", undefined)).toBe(true);
    expect(selects("app", undefined)).toBe(false);
  });

  const mistakes: [string, string][] = [
    ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ["a=b=c", "found '=', expected: ',' or 'end of string'"],
    ["a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ["=", "found '=', expected: !, identifier, or 'end of string'"],
    ["a,", "found '', expected: identifier after ','"],
    ["-a", 'unable to parse requirement: <nil>: Invalid value: "-a": the name part must consist of'],
    ["a=-b", 'unable to parse requirement: values[0][a]: Invalid value: "-b": must be empty or consist of'],
    ["a>b", "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators"],
  ];
  it.each(mistakes)("refuses %s", (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(SelectorError);
    expect(() => parseLabelSelector(selector)).toThrow(message);
  });
});
