import type { z } from 'zod';
import type { AccessTokenSource } from '../tokens/index.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { readBytes } from './read-bytes.ts';
import { readError, requestIdOf } from './read-error.ts';
import { OutcomeUnknownError, SvcError } from './svc-error.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** How requests leave. */
export interface Transport {
  readonly baseUrl: URL;
  readonly tokens: AccessTokenSource;
  readonly fetch: typeof fetch;
}

/** One request. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: string | FormData | undefined;
  /** It could cost something, so it is never repeated where its outcome is unknown. */
  readonly isBilled: boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer with status 200 whose body is still to be read; who reads it clears the deadline. */
export interface Exchange {
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly deadline: Deadline;
  readonly isBilled: boolean;
}

/**
 * Sends a request. A token that the service refuses is renewed and the request sent once more: it was turned away before
 * anything was done. Throws an `SvcError` for every other answer, and what the token source throws.
 */
export const sendRequest = async (transport: Transport, request: OutgoingRequest): Promise<Exchange> => {
  const token = await transport.tokens();
  try {
    return await sendOnce(transport, request, token);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'invalid_token') throw error;
    const renewed = await transport.tokens({ rejected: token });
    if (renewed === token) throw error;
    return await sendOnce(transport, request, renewed);
  }
};

/** Sends a request and reads its JSON answer. */
export const requestJson = async <S extends z.ZodType>(
  transport: Transport,
  request: OutgoingRequest,
  schema: S,
): Promise<{ answer: z.infer<S>; requestId: string | undefined }> => {
  const exchange = await sendRequest(transport, request);
  const { requestId, deadline, response } = exchange;
  try {
    const bytes = await readBytes(response.body, ANSWER_BYTES_MAX).catch((error: unknown) => {
      throw error instanceof RangeError ? invalidAnswer(exchange, error) : toNetworkError(error, exchange);
    });
    return { answer: schema.parse(JSON.parse(new TextDecoder().decode(bytes))), requestId };
  } catch (error) {
    deadline.throwIfCallerAborted();
    throw error instanceof SvcError ? error : invalidAnswer(exchange, error);
  } finally {
    deadline.clear();
  }
};

/** The answer is not what the contract promises; repeating would not mend it. */
export const invalidAnswer = ({ response, requestId }: Exchange, cause: unknown): SvcError =>
  new SvcError({
    code: 'invalid_answer',
    message: 'The answer is not what the contract promises.',
    status: response.status,
    requestId,
    cause,
  });

const sendOnce = async (transport: Transport, request: OutgoingRequest, token: string): Promise<Exchange> => {
  const { isBilled } = request;
  request.signal?.throwIfAborted();
  const deadline = startDeadline(request.timeoutMs, request.signal);
  try {
    const response = await transport.fetch(new URL(transport.baseUrl.href.replace(/\/$/, '') + request.path), {
      method: request.method,
      headers: headersOf(request, token),
      body: request.body ?? null,
      // A token goes to the configured host alone.
      redirect: 'manual',
      signal: deadline.signal,
    });
    if (response.status !== 200) throw await readError(response, isBilled);
    return { response, requestId: requestIdOf(response), deadline, isBilled };
  } catch (error) {
    deadline.clear();
    throw error instanceof SvcError ? error : toNetworkError(error, { deadline, isBilled });
  }
};

const headersOf = (request: OutgoingRequest, token: string): Headers => {
  const headers = new Headers({ accept: 'application/json', authorization: `Bearer ${token}` });
  for (const [name, value] of Object.entries(request.headers ?? {})) if (value !== undefined) headers.set(name, value);
  return headers;
};

/** Throws the caller's reason where it was the caller who ended the exchange. */
const toNetworkError = (
  cause: unknown,
  exchange: Pick<Exchange, 'deadline' | 'isBilled'> & Partial<Pick<Exchange, 'requestId' | 'response'>>,
): SvcError => {
  exchange.deadline.throwIfCallerAborted();
  if (wasNeverSent(cause)) {
    const message = 'The service cannot be reached. The request was not sent.';
    return new SvcError({ code: 'connection_failed', message, isRetryable: true, cause });
  }
  const parts = { requestId: exchange.requestId, status: exchange.response?.status, cause };
  const what = exchange.deadline.isOver() ? 'The answer did not come in time.' : 'The connection broke.';
  if (!exchange.isBilled) return new SvcError({ ...parts, code: 'no_answer', message: what, isRetryable: true });
  const message = `${what} The request may have been served and billed: look at the usage before you repeat it.`;
  return new OutcomeUnknownError({ ...parts, code: 'outcome_unknown', message });
};

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Only what is known to happen before the first byte leaves; everything else counts as sent. */
const wasNeverSent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ('code' in error && NEVER_SENT.has(String(error.code))) return true;
  return error.cause !== undefined && wasNeverSent(error.cause);
};
