import { expect, test } from "vitest";
import { isIP } from "./ip.ts";

test.each(["1.2.3.4", "0.0.0.0", "::", "::1", "2001:DB8::ffff", "1:2:3:4:5:6:7:8", "64:ff9b::1.2.3.4"])(
  "%s",
  (text) => {
    expect(isIP(text)).toBe(true);
  },
);

test.each([
  "",
  "1.2.3",
  "1.2.3.256",
  "01.2.3.4",
  "1::2::3",
  "1:2:3:4:5:6:7",
  "::ffff:1.2.3.4",
  "::ffff:1:2",
  "g::",
  "::1%eth0",
  "1:2:3:4:5:6:7::8:9",
  "::1.2.3.400",
])("not %j", (text) => {
  expect(isIP(text)).toBe(false);
});
