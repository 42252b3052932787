import { z } from 'zod';
import { type FailureReason, UpstreamFailure, type WireError } from '../upstream-failure.ts';
import type { UpstreamResponse } from './open-upstream.ts';

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const MESSAGE_CHARACTERS_MAX = 4_000;
/** Statuses that mean that the request itself is invalid. */
const REQUEST_AT_FAULT: ReadonlySet<number> = new Set([400, 404, 413, 415, 422]);
/** RFC 9110 section 15.4: redirects without any effect. A 303 may point to the result of a completed request. */
const REDIRECTED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** RFC 9110 section 10.2.3: seconds or a date. */
const RETRY_AFTER = /^(\d{1,6}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

const PLAIN_TEXT = /^text\/plain\b/i;
/** Shorter keys are placeholders for providers that need none, and may occur in ordinary words. */
const SECRET_CHARACTERS_MIN = 8;

/** Provider of a refusal: how its errors are read, and the key that they must not show. */
interface RefusingProvider {
  readonly readError: ReadWireError;
  readonly apiKey: string;
}

/** Parses the error in a response body; undefined if it contains none. */
export type ReadWireError = (body: unknown) => WireError | undefined;

/**
 * Reads a response with another status than 200, or without the requested stream, and classifies the failure. A 5xx is
 * definite only with an error body, or as a 503 with Retry-After. Otherwise it may be the page of a proxy, which does not
 * know if the provider served the request.
 */
export const readRefusal = async (
  response: UpstreamResponse,
  { readError, apiKey }: RefusingProvider,
): Promise<UpstreamFailure> => {
  const { status } = response;
  const retryAfter = wellFormedRetryAfter(response.headers['retry-after']);
  const body = await collectBody(response, ERROR_BODY_BYTES_MAX).catch((error: unknown) => {
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
  });
  const wireError = body === undefined ? undefined : readError(parseJson(body));
  const reason = reasonOf(status, { hasErrorBody: wireError !== undefined, hasRetryAfter: retryAfter !== undefined });
  if (reason !== 'rejected') return new UpstreamFailure(reason, { status, retryAfter });
  return new UpstreamFailure(reason, {
    status,
    wireError: withoutKey(wireError ?? plainTextError(response, body), apiKey),
  });
};

/** Removes our own key from an error that quotes it. */
const withoutKey = (error: WireError | undefined, apiKey: string): WireError | undefined => {
  if (error === undefined || apiKey.length < SECRET_CHARACTERS_MIN) return error;
  const clean = (text: string | null): string | null => text?.replaceAll(apiKey, '[removed]') ?? null;
  return {
    message: error.message.replaceAll(apiKey, '[removed]'),
    type: clean(error.type),
    param: clean(error.param),
    code: clean(error.code),
  };
};

/** Returns an error message in plain text. */
const plainTextError = ({ headers }: UpstreamResponse, body: Buffer | undefined): WireError | undefined => {
  const message = PLAIN_TEXT.test(String(headers['content-type'])) ? body?.toString().trim() : undefined;
  return message
    ? { message: message.slice(0, MESSAGE_CHARACTERS_MAX), type: null, param: null, code: null }
    : undefined;
};

const reasonOf = (status: number, response: { hasErrorBody: boolean; hasRetryAfter: boolean }): FailureReason => {
  if (status === 200) return response.hasErrorBody ? 'failed' : 'garbled';
  if (status === 429) return 'busy';
  // RFC 9110 section 15.6.4: the provider could not handle the request, and states when it can.
  if (status === 503 && (response.hasErrorBody || response.hasRetryAfter)) return 'busy';
  if (status >= 500) return response.hasErrorBody ? 'failed' : 'lost';
  if (REQUEST_AT_FAULT.has(status)) return 'rejected';
  // Another 2xx is no valid response to a completion, but does not rule out that one was generated.
  return status < 400 && !REDIRECTED.has(status) ? 'garbled' : 'unauthorized';
};

const wellFormedRetryAfter = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' && RETRY_AFTER.test(value) ? value : undefined;

const text = z.string().nullish().catch(null);
const errorObject = z.object({
  message: z.string(),
  type: text,
  param: text,
  code: z
    .union([z.string(), z.number().transform(String)])
    .nullish()
    .catch(null),
});
const detailItem = z.object({ msg: z.string() });

/** Common shapes of errors: OpenAI's, a flat one (older vLLM, Mistral), FastAPI's. */
const errorBody = z.union([
  z.object({ error: errorObject }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error })),
  errorObject,
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
  z.object({ detail: z.array(detailItem).min(1) }).transform(({ detail }) => ({
    message: detail.map(({ msg }) => msg).join('; '),
  })),
]);

/** Parses an error in one of the common shapes. */
export const readWireError: ReadWireError = (body) => {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) return undefined;
  const error: z.input<typeof errorObject> = parsed.data;
  return {
    message: error.message.slice(0, MESSAGE_CHARACTERS_MAX),
    type: typeof error.type === 'string' ? error.type : null,
    param: typeof error.param === 'string' ? error.param : null,
    code: typeof error.code === 'string' ? error.code : null,
  };
};

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
};

/** Reads a whole body into memory. Rejects with UpstreamFailure; `garbled` if it exceeds `bytesMax`. */
export const collectBody = (response: UpstreamResponse, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.read({
      onData: (chunk) => {
        bytes += chunk.length;
        if (bytes <= bytesMax) {
          chunks.push(chunk);
          return;
        }
        response.abort();
        reject(new UpstreamFailure('garbled', { status: response.status }));
      },
      onEnd: () => resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
      onFailure: reject,
    });
  });
