/** Why a message could not be handed over. Stable codes; none of them says anything about the Job itself. */
export const TRANSPORT_ERRORS = {
  "transport/full":
    "too many messages wait already; the receiver is away or slow, and will be told everything on its return",
  "transport/unreachable":
    "Redis does not answer; check its address, credentials and network, the message will be sent again",
  "transport/credentials":
    "Redis does not accept these credentials; check the user, its password and the ACL rules it was given",
  "transport/no-scripts":
    "Redis does not have the scripts of this release; the manager loads them: start it, or upgrade it first",
  "transport/rejected":
    "Redis refused the command; check the ACL rules of this user, free memory and whether it is a replica",
  "transport/closed": "the transport has been closed",
  "transport/config": "the Redis settings are not usable",
  "transport/server": "the Redis server must not be used as it is",
} as const;

export type TransportErrorCode = keyof typeof TRANSPORT_ERRORS;

export class TransportError extends Error {
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, detail?: string, cause?: unknown) {
    const sentence = TRANSPORT_ERRORS[code];
    super(detail === undefined ? sentence : `${sentence} (${detail})`, cause === undefined ? undefined : { cause });
    this.name = "TransportError";
    this.code = code;
  }
}
