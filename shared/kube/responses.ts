import type { IncomingHttpHeaders } from "node:http";
import type { KubeObject, KubeStatus, Resource } from "./api.ts";
import { ApiError, reasonOf } from "./errors.ts";
import { decodeAnswer, PROTOBUF_TYPE } from "./protobuf/meta.ts";
import type { HttpResponse } from "./transport.ts";

/** Proxies answer with pages of HTML: enough of it to recognise them, not more. */
const EXCERPT_CHARS = 200;

/** The error an answer stands for; undefined for a success. */
export function failureOf(response: HttpResponse): ApiError | undefined {
  const { status: code } = response;
  if (code >= 200 && code < 300) return undefined;
  const retryAfterMs = retryAfterOf(response);
  const status = statusOf(response);
  if (status !== undefined) return ApiError.fromStatus({ ...status, code }, retryAfterMs);
  const excerpt = response.body.toString("utf8").slice(0, EXCERPT_CHARS).replaceAll(/\s+/g, " ").trim();
  return new ApiError(code, reasonOf(code), `the server answered ${code}${excerpt && `: ${excerpt}`}`, {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

export const isProtobuf = (headers: IncomingHttpHeaders): boolean =>
  headers["content-type"]?.startsWith(PROTOBUF_TYPE) === true;

/** What a call was answered with; which of the types it is, is for the caller to know. */
export function parseAnswer<R>(resource: Resource, { headers, body }: HttpResponse): R {
  if (isProtobuf(headers)) return decodeAnswer(resource.protobuf ?? {}, body) as R;
  try {
    return JSON.parse(body.toString("utf8")) as R;
  } catch (cause) {
    throw new ApiError(0, "InvalidResponse", "the server's answer is not JSON: is this address an API server?", {
      cause,
    });
  }
}

function statusOf({ headers, body }: HttpResponse): KubeStatus | undefined {
  try {
    const parsed: unknown = isProtobuf(headers) ? decodeAnswer({}, body) : JSON.parse(body.toString("utf8"));
    const isStatus = typeof parsed === "object" && parsed !== null && "kind" in parsed && parsed.kind === "Status";
    return isStatus ? (parsed as KubeStatus) : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterOf({ headers }: HttpResponse): number | undefined {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

/**
 * Whether the answer to a DELETE shows an object that is only marked. The server answers with a Status when the object is
 * gone, except for kinds like Pod, where it sends the last state either way.
 */
export function isOnlyMarked(answer: KubeObject & { spec?: { finalizers?: string[] } }): boolean {
  if (answer.kind === "Status" || answer.metadata.deletionTimestamp === undefined) return false;
  const { finalizers = [], deletionGracePeriodSeconds = 0 } = answer.metadata;
  const isNamespaceEmptying = answer.kind === "Namespace" && (answer.spec?.finalizers?.length ?? 0) > 0;
  return finalizers.length > 0 || deletionGracePeriodSeconds > 0 || isNamespaceEmptying;
}
