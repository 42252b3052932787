import { readBytes } from '../bytes.ts';
import type { Shape } from '../shape.ts';
import type { AccessTokenSource } from '../user-tokens.ts';
import { OutcomeUnknownError, readError, requestIdOf, SvcError } from './svc-error.ts';

/** Time limit of one exchange, combined with the caller's own signal. */
interface Deadline {
  /** Aborts on timeout or when the caller aborts. */
  readonly signal: AbortSignal;
  /** True if the timeout caused the abort. */
  readonly isOver: () => boolean;
  /** Throws the caller's reason if the caller caused the abort. */
  readonly throwIfCallerAborted: () => void;
  /** Stops the clock until `renew`. */
  readonly pause: () => void;
  /** Restarts the clock after data has arrived. */
  readonly renew: () => void;
  /** Ends the limit without an abort. */
  readonly clear: () => void;
  /** Aborts the exchange. */
  readonly abort: () => void;
}

/** Starts a time limit. */
const startDeadline = (milliseconds: number, caller?: AbortSignal): Deadline => {
  const controller = new AbortController();
  let isOver = false;
  const start = () =>
    setTimeout(() => {
      isOver = true;
      controller.abort();
    }, milliseconds);
  let timer = start();
  const onCallerAbort = (): void => controller.abort(caller?.reason);
  if (caller?.aborted === true) onCallerAbort();
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    throwIfCallerAborted: () => caller?.throwIfAborted(),
    pause: () => clearTimeout(timer),
    renew: () => {
      clearTimeout(timer);
      timer = start();
    },
    clear: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onCallerAbort);
    },
    abort: () => controller.abort(),
  };
};

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export interface Transport {
  readonly baseUrl: URL;
  readonly tokens: AccessTokenSource;
  readonly fetch: typeof fetch;
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: string | FormData | undefined;
  /** The request may cost something, so it is never repeated while its outcome is unknown. */
  readonly isBilled: boolean;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A response with status 200 and an unread body. The reader of the body clears the deadline. */
export interface Exchange {
  readonly response: Response;
  readonly requestId: string | undefined;
  readonly deadline: Deadline;
  readonly isBilled: boolean;
}

/**
 * Sends a request. If the service rejects the token, which happens before any work, renews it and sends the request
 * once more. Throws an `SvcError` for every other error response, and errors of the token source.
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

/** Sends a request and parses its JSON answer. */
export const requestJson = async <T>(
  transport: Transport,
  request: OutgoingRequest,
  shape: Shape<T>,
): Promise<{ answer: T; requestId: string | undefined }> => {
  const exchange = await sendRequest(transport, request);
  const { requestId, deadline, response } = exchange;
  try {
    const bytes = await readBytes(response.body, ANSWER_BYTES_MAX).catch((error: unknown) => {
      throw error instanceof RangeError ? invalidAnswer(exchange, error) : toNetworkError(error, exchange);
    });
    return { answer: shape(JSON.parse(new TextDecoder().decode(bytes)), 'answer'), requestId };
  } catch (error) {
    deadline.throwIfCallerAborted();
    throw error instanceof SvcError ? error : invalidAnswer(exchange, error);
  } finally {
    deadline.clear();
  }
};

/** Error for an answer that violates the contract. A repeat would not help. */
export const invalidAnswer = ({ response, requestId }: Exchange, cause: unknown): SvcError =>
  new SvcError({
    code: 'invalid_answer',
    message: 'The answer violates the contract.',
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
      // Never send the token to another host.
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

/** Converts a network failure. Throws the caller's reason if the caller aborted. */
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
  const what = exchange.deadline.isOver() ? 'The answer did not arrive in time.' : 'The connection broke.';
  if (!exchange.isBilled) return new SvcError({ ...parts, code: 'no_answer', message: what, isRetryable: true });
  const message = `${what} The request may have been served and billed: check the usage before you repeat it.`;
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

/** Returns true for failures that happen before the first byte is sent. Any other failure counts as sent. */
const wasNeverSent = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if ('code' in error && NEVER_SENT.has(String(error.code))) return true;
  return error.cause !== undefined && wasNeverSent(error.cause);
};
