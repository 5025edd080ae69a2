/** No leading zeros: other programs read those as octal. */
const OCTET = /^(0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;
/** Longest spelling: six groups and a dotted quad. */
const MAX_LENGTH = 45;

/** An IPv4 or IPv6 address without zone or prefix length, as the API server accepts it. */
export const isIP = (text: string): boolean => text.length <= MAX_LENGTH && (isIPv4(text) || isIPv6(text));

function isIPv4(text: string): boolean {
  const octets = text.split(".");
  return octets.length === 4 && octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255);
}

function isIPv6(text: string): boolean {
  const quad = /(^|:)([\d.]+\.[\d.]+)$/.exec(text)?.[2];
  if (quad !== undefined && !isIPv4(quad)) return false;
  const halves = (quad === undefined ? text : `${text.slice(0, -quad.length)}0:0`).split("::");
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const elided = 8 - head.length - tail.length;
  if (halves.length > 2 || (halves.length === 2 ? elided < 1 : elided !== 0)) return false;
  const groups = [...head, ...new Array<string>(elided).fill("0"), ...tail];
  return groups.every((group) => GROUP.test(group)) && !isMappedIPv4(groups);
}

/** `::ffff:a.b.c.d` can be read as either family and is refused. */
const isMappedIPv4 = (groups: readonly string[]): boolean =>
  groups.slice(0, 5).every((group) => Number.parseInt(group, 16) === 0) && groups[5]?.toLowerCase() === "ffff";
