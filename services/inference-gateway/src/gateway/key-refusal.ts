import { errorCodes } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { NO_RETRY } from '../completions/index.ts';
import type { KeyLimitStates, LeaseRefusal } from '../leases/index.ts';

type LimitState = KeyLimitStates['requests'];

/** Returns the state of the key's rate limits in the headers of the common wire format; none without limits. */
export const rateLimitHeaders = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  ...limitHeaders('requests', requests),
  ...limitHeaders('tokens', tokens),
});

const limitHeaders = (unit: 'requests' | 'tokens', state: LimitState): Readonly<Record<string, string>> =>
  state === undefined
    ? {}
    : {
        [`x-ratelimit-limit-${unit}`]: String(state.limit),
        [`x-ratelimit-remaining-${unit}`]: String(state.remaining),
        [`x-ratelimit-reset-${unit}`]: `${state.reset_ms / 1000}s`,
      };

/** Returns Retry-After with the whole seconds until the key's minute ends, at least 1. */
const retryAfter = ({ requests, tokens }: KeyLimitStates): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil(((requests ?? tokens)?.reset_ms ?? 0) / 1000))),
});

type Headers = (refusal: LeaseRefusal) => Readonly<Record<string, string>>;

const VERDICT_HEADERS: Readonly<Partial<Record<LeaseRefusal['verdict'], Headers>>> = {
  rate_limit_exceeded: ({ limits }) => retryAfter(limits),
  // Common SDKs retry every 409, but this answer would not change.
  duplicate_request: () => NO_RETRY,
};

/** Cost and output of a refused request. */
export interface RefusedNeed {
  /** Its highest cost, with the smallest output if it sets no limit. */
  readonly micros: number;
  /** Returns the output limit that an amount pays on every route; 0 if that is too little. */
  readonly tokensFor: (micros: number) => number;
}

/** Maps billing's refusal to an error with rate limit headers. Without a need, the body was not read. */
export const toRefusal = (refusal: LeaseRefusal, need?: RefusedNeed): AppError => {
  const shortfall = shortfallOf(refusal, need);
  return new AppError(refusal.verdict, shortfall && explain(refusal.verdict, shortfall), {
    details: { ...shortfall, ...refusal.duplicate_of },
    headers: { ...rateLimitHeaders(refusal.limits), ...VERDICT_HEADERS[refusal.verdict]?.(refusal) },
  });
};

interface Shortfall {
  readonly available_micros: number;
  readonly needed_micros: number | null;
  readonly affordable_output_tokens: number;
}

/** Returns what wallet and month lack; undefined for refusals by other limits. */
const shortfallOf = ({ available_micros }: LeaseRefusal, need: RefusedNeed | undefined): Shortfall | undefined =>
  available_micros === undefined
    ? undefined
    : {
        available_micros,
        needed_micros: need?.micros ?? null,
        affordable_output_tokens: need?.tokensFor(available_micros) ?? 0,
      };

/** Writes a message for people, because most clients show nothing else. */
const explain = (
  verdict: LeaseRefusal['verdict'],
  { available_micros, needed_micros, affordable_output_tokens }: Shortfall,
): string => {
  const { description } = errorCodes[verdict];
  if (needed_micros === null) return `${description} It has ${available_micros} micros left.`;
  const amounts = `The request needs ${needed_micros} micros, and ${available_micros} are left.`;
  return affordable_output_tokens === 0
    ? `${description} ${amounts}`
    : `${description} ${amounts} An output limit of ${affordable_output_tokens} tokens would fit.`;
};
