import { errorCodes } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { LeaseRefusal } from '../leases/index.ts';
import { rateLimitHeaders, retryAfter } from './rate-limit-headers.ts';

type Headers = (refusal: LeaseRefusal) => Readonly<Record<string, string>>;

const VERDICT_HEADERS: Readonly<Partial<Record<LeaseRefusal['verdict'], Headers>>> = {
  rate_limit_exceeded: ({ limits }) => retryAfter(limits),
  // Common SDKs retry every 409, but this answer would not change.
  duplicate_request: () => ({ 'x-should-retry': 'false' }),
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
