/**
 * Why a message was refused. The codes are stable: logs, metrics, events and the documentation use them. A refused
 * message is never retried: the same bytes would be refused again.
 */
export const PROTOCOL_ERRORS = {
  "protocol/name":
    "the cluster name is not a DNS label; use 1 to 63 lower case letters, digits and '-', and not `manager`",
  "protocol/too-large": "the message exceeds 1.5 MiB; make the Job or its annotations smaller",
  "protocol/malformed": "the message is not a jobferry envelope",
  "protocol/version": "the message speaks another version of the protocol",
  "protocol/misdirected": "the message is meant for another cluster or for the other direction",
  "protocol/unknown-key": "the message is sealed with a key that is not known here",
  "protocol/seal":
    "the seal is broken: the message was changed on its way, or its sender does not have the key it names",
  "protocol/encoding": "the payload cannot be unpacked or is not valid UTF-8",
  "protocol/json": "the payload is not JSON, is nested too deeply or holds a forbidden key",
  "protocol/schema": "the message does not have the agreed shape",
  "protocol/too-new": "the message needs a field that this version does not know; upgrade this side, the manager first",
  "protocol/key": "the key cannot be used as an X25519 key",
} as const;

export type ProtocolErrorCode = keyof typeof PROTOCOL_ERRORS;

export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;

  constructor(code: ProtocolErrorCode, detail?: string, cause?: unknown) {
    const sentence = PROTOCOL_ERRORS[code];
    super(detail === undefined ? sentence : `${sentence} (${detail})`, cause === undefined ? undefined : { cause });
    this.name = "ProtocolError";
    this.code = code;
  }
}
