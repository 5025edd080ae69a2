import { PROTOCOL_ERRORS } from "../../shared/protocol/errors.ts";
import { TRANSPORT_ERRORS } from "../../shared/queue/errors.ts";
import { code, type Page, table } from "./markdown.ts";

/** Codes of the metric that no error class has. */
export const OTHER_CODES: Record<string, string> = {
  "report/invalid":
    "the assigned cluster reported a status that no Job may have, or a number that its API server cannot have reached",
  "report/not-listed": "the agent asked for a ConfigMap or Secret that its deliveries did not list; nothing was sent",
  "report/repeated":
    "a hello or heartbeat came again, or after a later one; it does not count as contact. Single ones are normal, many mean that somebody repeats messages in Redis",
  "report/not-its-job": "the report is about a Job that this cluster does not have in this epoch; it is not used",
  "report/stale": "the report is not of the present assignment, or not news; nothing is wrong with it",
  tries: "the message is well-formed, but could not be handled in as many tries as it has",
};

const rows = (errors: Readonly<Record<string, string>>): string =>
  table(
    ["code", "meaning and fix"],
    Object.entries(errors).map(([name, sentence]) => [code(name), sentence]),
  );

export const codesPage = (): Page => ({
  file: "error-codes.md",
  title: "Error codes",
  from: "`shared/protocol/errors.ts` and `shared/queue/errors.ts`",
  body: [
    "The codes are stable: logs, the metric `jobferry_messages_refused_total{code}` and events use them.",
    "",
    "## A message was refused",
    "It is not tried again: the same bytes would be refused again.",
    "",
    rows({ ...PROTOCOL_ERRORS, ...OTHER_CODES }),
    "",
    "## A message could not be handed over",
    "It is sent again, or said again with the next inventory.",
    "",
    rows(TRANSPORT_ERRORS),
    "",
    "## Exit codes of the programs",
    table(
      ["code", "when"],
      [
        ["0", "done, or stopped by SIGTERM or SIGINT"],
        [
          "1",
          "an error that should not happen, or not stopped in time; `jobferry up --demo --exit`: an example ended otherwise",
        ],
        ["2", "wrong usage or configuration: one sentence on standard error names the flag and the fix"],
        ["130, 143", "a second SIGINT or SIGTERM"],
      ],
    ),
  ].join("\n"),
});
