import { checkDnsSubdomain, checkDnsSubdomainWithUnderscore } from "@jobferry/shared/job/names.ts";
import type { Violations } from "@jobferry/shared/job/validation/errors.ts";
import type { FullPodSpec } from "../../schema/pod-types.ts";
import { isIP } from "./ip.ts";

const MAX_NAMESERVERS = 3;
const MAX_SEARCH_PATHS = 32;
const MAX_SEARCH_LIST_BYTES = 2048;

export function validateDnsConfig(v: Violations, path: string, { dnsPolicy, dnsConfig }: FullPodSpec): void {
  if (dnsPolicy === "None" && !dnsConfig?.nameservers?.length) {
    v.required(dnsConfig === undefined ? path : `${path}.nameservers`, "when dnsPolicy is None");
    return;
  }
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (nameservers.length > MAX_NAMESERVERS) {
    v.invalid(`${path}.nameservers`, nameservers, `at most ${MAX_NAMESERVERS} nameservers`);
  }
  nameservers.forEach((server, index) => {
    if (!isIP(server)) v.invalid(`${path}.nameservers[${index}]`, server, "must be an IP address");
  });
  if (searches.length > MAX_SEARCH_PATHS) v.invalid(`${path}.searches`, searches, `at most ${MAX_SEARCH_PATHS} paths`);
  if (Buffer.byteLength(searches.join(" ")) > MAX_SEARCH_LIST_BYTES) {
    v.invalid(`${path}.searches`, searches, `at most ${MAX_SEARCH_LIST_BYTES} bytes in all`);
  }
  searches.forEach((search, index) => {
    if (search === ".") return;
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    v.malformed(`${path}.searches[${index}]`, name, checkDnsSubdomainWithUnderscore(name));
  });
  options.forEach(({ name }, index) => {
    if (!name) v.required(`${path}.options[${index}]`, "needs a name");
  });
}

export function validateHostAliases(
  v: Violations,
  path: string,
  aliases: NonNullable<FullPodSpec["hostAliases"]>,
): void {
  aliases.forEach(({ ip, hostnames = [] }, index) => {
    if (!isIP(ip)) v.invalid(`${path}[${index}].ip`, ip, "must be an IP address");
    hostnames.forEach((hostname, position) => {
      v.malformed(`${path}[${index}].hostnames[${position}]`, hostname, checkDnsSubdomain(hostname));
    });
  });
}
