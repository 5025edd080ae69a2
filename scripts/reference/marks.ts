import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.ts";
import { code, type Page, table } from "./markdown.ts";

interface Mark {
  readonly name: string;
  readonly kind: string;
  readonly where: string;
  readonly by: string;
  readonly meaning: string;
}

const SOURCES = [
  "shared/protocol/marks.ts",
  "worker-agent/job-controller/core/exit-code-ranges.ts",
  "worker-agent/job-controller/core/uncounted-cap.ts",
];

/** In no constant: the policy alone reads it. */
const DISPATCH: Mark = {
  name: "jobferry.dev/dispatch",
  kind: "label",
  where: "Namespace of the hub",
  by: "an administrator",
  meaning: "`enabled`: new Jobs of the namespace that name no controller get `managedBy: jobferry.dev/manager`",
};

const kindOf = (constant: string): string => {
  if (constant.endsWith("_MANAGED_BY")) return "`spec.managedBy`";
  if (constant.endsWith("_LABEL")) return "label";
  if (constant.endsWith("_TAINT")) return "taint";
  return constant.endsWith("_FINALIZER") ? "finalizer" : "annotation";
};

/** Constants with the comment before them: `WHERE, by WHOM: MEANING`. */
export function marksIn(text: string, file: string): Mark[] {
  const constants = text.matchAll(
    /(?:\/\*\* ((?:(?!\*\/).)*) \*\/\n)?export const (\w+) = "(jobferry\.dev\/[a-z-]+)";/g,
  );
  return [...constants].map(([, comment = "", constant = "", name = ""]) => {
    const match = /^([^,:]+), by (?:the )?([^:]+): (.+)$/.exec(comment);
    if (match === null)
      throw new Error(
        `${file}: ${constant} needs a comment of the form "/** Hub Job, by the manager: what it means. */"`,
      );
    const [, where = "", by = "", meaning = ""] = match;
    return { name, kind: kindOf(constant), where, by, meaning: meaning.replace(/\.$/, "") };
  });
}

export function marksPage(): Page {
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  if (!read("deploy/hub/admission.yaml").includes(`${DISPATCH.name}: enabled`))
    throw new Error(`deploy/hub/admission.yaml no longer asks for ${DISPATCH.name}: change scripts/reference/marks.ts`);
  const marks = [DISPATCH, ...SOURCES.flatMap((file) => marksIn(read(file), file))];
  const rows = (wanted: (mark: Mark) => boolean): string =>
    table(
      ["name", "is a", "on", "written by", "meaning"],
      marks.filter(wanted).map(({ name, kind, where, by, meaning }) => [code(name), kind, where, by, meaning]),
    );
  const isForUsers = ({ by }: Mark): boolean => /submitter|administrator/.test(by);
  return {
    file: "marks.md",
    title: "Labels, annotations and finalizers",
    from: "`shared/protocol/marks.ts` and the Job controller's extensions",
    body: [
      "## For you to set",
      rows(isForUsers),
      "",
      "## Written by Jobferry",
      "Read them as you like; a change by hand can move or lose a Job.",
      "",
      rows((mark) => !isForUsers(mark)),
    ].join("\n"),
  };
}
