/** The name syntaxes of the Kubernetes API. Each checker gives the complaints about a value, none when it is fine. */

type Check = (value: string) => string[];

const utf8Length = (text: string): number => Buffer.byteLength(text);

function matching(pattern: RegExp, maxLength: number, description: string): Check {
  return (value) => {
    const complaints: string[] = [];
    if (utf8Length(value) > maxLength) complaints.push(`must be no more than ${maxLength} bytes`);
    if (!pattern.test(value)) complaints.push(description);
    return complaints;
  };
}

export const checkDnsLabel = matching(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  63,
  "must consist of lower case alphanumeric characters or '-', and start and end with an alphanumeric character",
);

export const checkDnsSubdomain = matching(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  253,
  "must consist of lower case alphanumeric characters, '-' or '.', and start and end with an alphanumeric character",
);

/** DNS search paths also take names such as `_tcp.example.com`. */
export const checkDnsSubdomainWithUnderscore = matching(
  /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/,
  253,
  "must consist of lower case alphanumeric characters, '-', '_' or '.', and end with an alphanumeric character",
);

export const checkLabelValue = matching(
  /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
  63,
  "must be empty or consist of alphanumeric characters, '-', '_' or '.', and start and end with an alphanumeric character",
);

const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** `[prefix/]name`: label and annotation keys, finalizers, condition types. */
export const checkQualifiedName: Check = (value) => {
  const parts = value.split("/");
  if (parts.length > 2) return ["must be a name with an optional DNS subdomain prefix and one '/'"];
  const complaints: string[] = [];
  const prefix = parts.length === 2 ? (parts[0] ?? "") : undefined;
  const name = parts.at(-1) ?? "";
  if (prefix === "") complaints.push("the part before '/' must not be empty");
  else if (prefix !== undefined) complaints.push(...checkDnsSubdomain(prefix));
  if (name === "") complaints.push("the name part must not be empty");
  else if (utf8Length(name) > 63) complaints.push("the name part must be no more than 63 bytes");
  if (!NAME_PART.test(name)) {
    complaints.push(
      "the name part must consist of alphanumeric characters, '-', '_' or '.', and start and end with an alphanumeric character",
    );
  }
  return complaints;
};
