import { z } from 'zod';
import { type FailureReason, UpstreamFailure, type WireError } from '../../upstream-failure/index.ts';
import { collectBody } from './collect-body.ts';
import type { UpstreamAnswer } from './open-upstream.ts';

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const MESSAGE_CHARACTERS_MAX = 4_000;
/** Statuses by which a provider says that the request itself is at fault. */
const REQUEST_AT_FAULT: ReadonlySet<number> = new Set([400, 404, 413, 415, 422]);
/** RFC 9110 section 15.4: what was asked for is elsewhere, and nothing was done. A 303 may tell where the outcome of something done is. */
const REDIRECTED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** RFC 9110 section 10.2.3: seconds or a date. */
const RETRY_AFTER = /^(\d{1,6}|[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT)$/;

const PLAIN_TEXT = /^text\/plain\b/i;

/** Finds the error that the body of a refusal tells of; undefined where it tells of none. */
export type ReadWireError = (body: unknown) => WireError | undefined;

/**
 * Reads an answer that is not the one that was asked for and says what it means: one with another status than 200, or a 200 that is
 * no stream where one was. A 5xx counts as certain only with an error body, or as a
 * 503 that says when to come back: the page of some proxy on the way tells nothing of what the provider did.
 */
export const readRefusal = async (answer: UpstreamAnswer, readError: ReadWireError): Promise<UpstreamFailure> => {
  const { status } = answer;
  const retryAfter = wellFormedRetryAfter(answer.headers['retry-after']);
  const body = await collectBody(answer, ERROR_BODY_BYTES_MAX).catch((error: unknown) => {
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
  });
  const wireError = body === undefined ? undefined : readError(parseJson(body));
  const reason = reasonOf(status, { hasErrorBody: wireError !== undefined, hasRetryAfter: retryAfter !== undefined });
  if (reason !== 'rejected') return new UpstreamFailure(reason, { status, retryAfter });
  return new UpstreamFailure(reason, { status, wireError: wireError ?? plainWords(answer, body) });
};

/** What is wrong with the request, where the provider says it in plain text. */
const plainWords = ({ headers }: UpstreamAnswer, body: Buffer | undefined): WireError | undefined => {
  const message = PLAIN_TEXT.test(String(headers['content-type'])) ? body?.toString().trim() : undefined;
  return message
    ? { message: message.slice(0, MESSAGE_CHARACTERS_MAX), type: null, param: null, code: null }
    : undefined;
};

const reasonOf = (status: number, told: { hasErrorBody: boolean; hasRetryAfter: boolean }): FailureReason => {
  if (status === 200) return told.hasErrorBody ? 'failed' : 'garbled';
  if (status === 429) return 'busy';
  // RFC 9110 section 15.6.4: it could not handle the request, and says when it will.
  if (status === 503 && (told.hasErrorBody || told.hasRetryAfter)) return 'busy';
  if (status >= 500) return told.hasErrorBody ? 'failed' : 'lost';
  if (REQUEST_AT_FAULT.has(status)) return 'rejected';
  // A 2xx that is not 200 is no answer to a completion, and does not say that there was none.
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

/** The shapes in which errors are commonly told: OpenAI's, a flat one (older vLLM, Mistral), FastAPI's. */
const errorBody = z.union([
  z.object({ error: errorObject }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => ({ message: error })),
  errorObject,
  z.object({ detail: z.string() }).transform(({ detail }) => ({ message: detail })),
  z.object({ detail: z.array(detailItem).min(1) }).transform(({ detail }) => ({
    message: detail.map(({ msg }) => msg).join('; '),
  })),
]);

/** Reads an error in one of the common shapes. */
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
