import { describe, expect, test } from "vitest";
import { checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName } from "./names.ts";

const long = (n: number) => "a".repeat(n);
const cases: [string, (value: string) => string[], string[], string[]][] = [
  ["DNS label", checkDnsLabel, ["a", "a-1", "1", long(63)], ["", "-a", "a-", "a.b", "A", "a_b", "é", long(64)]],
  ["DNS subdomain", checkDnsSubdomain, ["a", "a.b-c.d", long(253)], ["", ".", "a..b", "a.", "A.b", "a_b", long(254)]],
  ["label value", checkLabelValue, ["", "a", "A_b.c-d", long(63)], ["-a", "a-", "a b", "a/b", long(64)]],
  [
    "qualified name",
    checkQualifiedName,
    ["a", "A_b.c", "x.io/a", `x.io/${long(63)}`],
    ["", "/a", "x/", "x/y/z", "X/a", "-a", "a b", long(64)],
  ],
];

describe.each(cases)("%s", (_name, check, good, bad) => {
  test.each(good)("accepts %j", (value) => expect(check(value)).toEqual([]));
  test.each(bad)("refuses %j", (value) => expect(check(value)).not.toEqual([]));
});
