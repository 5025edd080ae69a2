import { failure } from "../api/errors.ts";

/** What a client wants back: objects as they are, rows for a terminal, or metadata alone. */
type View = "object" | "table" | "metadata";

export interface Accepted {
  readonly view: View;
  readonly yaml: boolean;
}

/** The first media type of an Accept header that the server can produce. */
export function readAccept(header: string | undefined): Accepted {
  for (const range of (header ?? "*/*").split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    const yaml = type === "application/yaml";
    if (!yaml && !["application/json", "application/*", "*/*"].includes(type)) continue;
    if (as === "Table") return { view: "table", yaml };
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { view: "metadata", yaml };
    if (as === undefined) return { view: "object", yaml };
  }
  throw failure(
    406,
    "NotAcceptable",
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    {},
  );
}
