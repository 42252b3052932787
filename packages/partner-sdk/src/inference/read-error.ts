import { readBytes } from '../bytes.ts';
import { accepts, either, integer, list, nullable, object, openObject, optional, text } from '../shape.ts';
import { isRetryableAnswer } from './error-codes.ts';
import { AppLimitError, OutcomeUnknownError, SvcError, ValidationFailedError } from './svc-error.ts';

const ERROR_BYTES_MAX = 1024 * 1024;

/** Codes of refusals by the user's limit for the app. */
const APP_LIMITS: ReadonlySet<string> = new Set(['app_limit_exceeded', 'app_budget_expired', 'connection_paused']);

/** Body of a 422 answer. */
const validationErrorShape = object({
  detail: list(object({ loc: list(either(text(), integer())), msg: text(), type: text() })),
});

/** Body of every other error. */
const errorBodyShape = object({
  detail: openObject({
    code: text(),
    message: text(),
    resets_at: optional(nullable(text())),
    manage_url: optional(text()),
  }),
});

/** Converts an error response. `isBilled`: the request may have cost something. */
export const readError = async (response: Response, isBilled: boolean): Promise<SvcError> => {
  const { status } = response;
  const requestId = requestIdOf(response);
  const retryAfterSeconds = readRetryAfter(response.headers.get('retry-after'));
  // The service knows best: a 502 is usually free, but not if the provider served more than could be passed on.
  const isFinal = response.headers.get('x-should-retry') === 'false';
  const body = await readJson(response);
  if (status === 422 && accepts(validationErrorShape, body)) {
    const faults = body.detail.map(({ loc, msg, type }) => ({ loc, msg, type }));
    return new ValidationFailedError(faults, { status, requestId });
  }
  if (!accepts(errorBodyShape, body)) {
    // Not an error of the service: a proxy answered, so it is unknown if the service saw the request.
    const parts = { code: 'invalid_answer', message: `Unexpected answer with status ${status}.`, status, requestId };
    if (isBilled && status >= 500) return new OutcomeUnknownError({ ...parts, code: 'outcome_unknown' });
    const isRetryable = !isFinal && isRetryableAnswer('', status, isBilled);
    return new SvcError({ ...parts, retryAfterSeconds, isRetryable });
  }
  const { code, message, resets_at: resetsAt, ...details } = body.detail;
  const manageUrl = details.manage_url;
  const parts = {
    code,
    message,
    status,
    requestId,
    details,
    resetsAt: readTime(resetsAt),
    manageUrl,
    retryAfterSeconds,
  };
  if (code === 'upstream_timeout_uncertain') return new OutcomeUnknownError(parts);
  if (manageUrl !== undefined && APP_LIMITS.has(code)) return new AppLimitError(manageUrl, parts);
  return new SvcError({ ...parts, isRetryable: !isFinal && isRetryableAnswer(code, status, isBilled) });
};

/** Returns the request id that the service assigned. */
export const requestIdOf = (response: Response): string | undefined =>
  response.headers.get('x-request-id') ?? undefined;

const readJson = async (response: Response): Promise<unknown> => {
  try {
    return JSON.parse(new TextDecoder().decode(await readBytes(response.body, ERROR_BYTES_MAX)));
  } catch {
    // The status alone decides.
    return undefined;
  }
};

const readTime = (text: string | null | undefined): Date | undefined => {
  const time = new Date(text ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
};

/** Parses seconds or a date (RFC 9110 section 10.2.3). */
const readRetryAfter = (text: string | null): number | undefined => {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const time = readTime(text);
  return time === undefined ? undefined : Math.max(0, Math.ceil((time.getTime() - Date.now()) / 1000));
};
