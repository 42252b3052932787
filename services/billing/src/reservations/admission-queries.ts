import type { ReservationState } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { AdmissionVerdict } from './reservation.ts';

/** A delegated request that asks for admission. */
export interface DelegatedQuestion {
  readonly requestId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly service: string;
  readonly estimateMicros: number;
  /** Highest cost; null if only the estimate is known. */
  readonly holdMicros: number | null;
  /** Smallest hold of use; null if only the whole hold is. */
  readonly holdMinMicros: number | null;
  readonly idempotencyKey: string | null;
  readonly holderId: string | null;
}

export interface DelegatedDecision {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
  /** Hold of an admitted request. */
  readonly hold_micros: number | null;
}

/** An API-key request that asks for admission. */
export interface KeyQuestion {
  readonly requestId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly holdMicros: number;
  readonly requestsPerMinute: number | null;
  readonly monthlyLimitMicros: number | null;
  readonly holderId: string | null;
  /** Cost of the input; null if only the hold is known. */
  readonly estimateMicros: number | null;
  readonly idempotencyKey: string | null;
  readonly tokensPerMinute: number | null;
  /** Upper bound of the request's tokens. */
  readonly tokens: number | null;
  /** Fewest tokens that the request can be served with. */
  readonly tokensLeast: number | null;
}

export interface KeyDecision {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  /** Null if the key has no rate limit. */
  readonly rate_remaining: number | null;
  readonly rate_reset_ms: number;
  /** Null if the key has no token limit. */
  readonly tokens_remaining: number | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
}

/** A decision with the place of its question, from 1: the database decides in the order of its locks. */
type Placed<T> = T & { readonly place: number };

const ADMIT_DELEGATED = {
  name: 'admit_delegated_requests',
  text: `SELECT place, verdict, resets_at, duplicate_of, duplicate_state, hold_micros
    FROM admit_delegated_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(days => $10))`,
};

/** Decides on delegated requests in one round trip. Returns the decisions in the order of the questions. */
export const admitDelegatedRequests = async (
  database: Knex,
  questions: readonly DelegatedQuestion[],
  graceDays: number,
): Promise<DelegatedDecision[]> => {
  const rows = await runPrepared<Placed<DelegatedDecision>>(database, ADMIT_DELEGATED, [
    questions.map(({ requestId }) => requestId),
    questions.map(({ userId }) => userId),
    questions.map(({ clientId }) => clientId),
    questions.map(({ service }) => service),
    questions.map(({ estimateMicros }) => estimateMicros),
    questions.map(({ idempotencyKey }) => idempotencyKey),
    questions.map(({ holderId }) => holderId),
    questions.map(({ holdMicros }) => holdMicros),
    questions.map(({ holdMinMicros }) => holdMinMicros),
    graceDays,
  ]);
  return inOrder(rows);
};

const ADMIT_KEYED = {
  name: 'admit_key_requests',
  text: `SELECT place, verdict, resets_at, rate_remaining, rate_reset_ms, tokens_remaining, duplicate_of, duplicate_state
    FROM admit_key_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
};

/** Decides on API-key requests in one round trip. Returns the decisions in the order of the questions. */
export const admitKeyRequests = async (database: Knex, questions: readonly KeyQuestion[]): Promise<KeyDecision[]> => {
  const rows = await runPrepared<Placed<KeyDecision>>(database, ADMIT_KEYED, [
    questions.map(({ requestId }) => requestId),
    questions.map(({ userId }) => userId),
    questions.map(({ keyId }) => keyId),
    questions.map(({ holdMicros }) => holdMicros),
    questions.map(({ requestsPerMinute }) => requestsPerMinute),
    questions.map(({ monthlyLimitMicros }) => monthlyLimitMicros),
    questions.map(({ holderId }) => holderId),
    questions.map(({ estimateMicros }) => estimateMicros),
    questions.map(({ idempotencyKey }) => idempotencyKey),
    questions.map(({ tokensPerMinute }) => tokensPerMinute),
    questions.map(({ tokens }) => tokens),
    questions.map(({ tokensLeast }) => tokensLeast),
  ]);
  return inOrder(rows);
};

const inOrder = <T>(rows: Placed<T>[]): T[] => rows.sort((one, other) => one.place - other.place);
