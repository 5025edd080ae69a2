/** Name rules with the API server's own complaints; each gives the complaints about a value, none when it is fine. */
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const NAME_PART = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const isLabel = new RegExp(`^${LABEL}$`);
const isSubdomain = new RegExp(`^${SUBDOMAIN}$`);
const isNamePart = new RegExp(`^${NAME_PART}$`);

const tooLong = (limit: number, unit: "bytes" | "characters"): string => `must be no more than ${limit} ${unit}`;
const bytes = (text: string): number => Buffer.byteLength(text);
const withRegex = (rule: string, examples: string[], regex: string): string =>
  `${rule} (e.g. ${examples.map((example) => `'${example}'`).join(",  or ")}, regex used for validation is '${regex}')`;

export function dnsLabel(value: string): string[] {
  const complaints: string[] = [];
  if (bytes(value) > 63) complaints.push(tooLong(63, "characters"));
  if (!isLabel.test(value))
    complaints.push(
      withRegex(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        ["my-name", "123-abc"],
        LABEL,
      ),
    );
  return complaints;
}

export function dnsSubdomain(value: string): string[] {
  const complaints: string[] = [];
  if (bytes(value) > 253) complaints.push(tooLong(253, "characters"));
  if (!isSubdomain.test(value))
    complaints.push(
      withRegex(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        ["example.com"],
        SUBDOMAIN,
      ),
    );
  return complaints;
}

/** `[prefix/]name`: label and annotation keys, finalizers. */
export function qualifiedName(value: string): string[] {
  const parts = value.split("/");
  const name = parts.at(-1) ?? "";
  const complaints: string[] = [];
  if (parts.length > 2)
    return [
      `${namePartRule("a valid label key")} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  if (parts.length === 2) {
    if (parts[0] === "") complaints.push("prefix part must be non-empty");
    else complaints.push(...dnsSubdomain(parts[0] ?? "").map((complaint) => `prefix part ${complaint}`));
  }
  if (name === "") complaints.push("name part must be non-empty");
  else if (bytes(name) > 63) complaints.push(`name part ${tooLong(63, "bytes")}`);
  if (!isNamePart.test(name)) complaints.push(namePartRule("name part"));
  return complaints;
}

const namePartRule = (subject: string): string =>
  withRegex(
    `${subject} must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
    ["MyName", "my.name", "123-abc"],
    NAME_PART,
  );

export function labelValue(value: string): string[] {
  const complaints: string[] = [];
  if (bytes(value) > 63) complaints.push(tooLong(63, "bytes"));
  if (value !== "" && !isNamePart.test(value))
    complaints.push(
      withRegex(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        ["MyValue", "my_value", "12345"],
        `(${NAME_PART})?`,
      ),
    );
  return complaints;
}
