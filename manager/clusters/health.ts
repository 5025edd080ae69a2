import type { Report } from "@jobferry/shared/protocol/report.ts";

/** What an agent says of itself and its cluster. */
export type Health = Extract<Report, { kind: "hello" | "heartbeat" }>;
