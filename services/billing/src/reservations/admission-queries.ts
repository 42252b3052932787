import type { ReservationState } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { AdmissionVerdict } from './reservation.ts';

export interface DelegatedAdmissionInput {
  readonly requestId: string;
  readonly userId: string;
  readonly clientId: string;
  readonly service: string;
  readonly estimateMicros: number;
  /** Maximum cost; null if only the estimate is known. */
  readonly holdMicros: number | null;
  /** Smallest useful hold; null if only the whole hold is useful. */
  readonly holdMinMicros: number | null;
  readonly idempotencyKey: string | null;
  readonly holderId: string | null;
}

export interface DelegatedDecision {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
  /** Hold of an admitted request; null otherwise. */
  readonly hold_micros: number | null;
}

export interface KeyAdmissionInput {
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
  /** Fewest tokens that can serve the request. */
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

/** A decision with the position of its input, from 1. The database decides in lock order, not in input order. */
type Placed<T> = T & { readonly place: number };

const ADMIT_DELEGATED = {
  name: 'admit_delegated_requests',
  text: `SELECT place, verdict, resets_at, duplicate_of, duplicate_state, hold_micros
    FROM admit_delegated_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(days => $10))`,
};

/** Decides on delegated requests in one round trip. Returns the decisions in input order. */
export const admitDelegatedRequests = async (
  database: Knex,
  inputs: readonly DelegatedAdmissionInput[],
  graceDays: number,
): Promise<DelegatedDecision[]> => {
  const rows = await runPrepared<Placed<DelegatedDecision>>(database, ADMIT_DELEGATED, [
    inputs.map(({ requestId }) => requestId),
    inputs.map(({ userId }) => userId),
    inputs.map(({ clientId }) => clientId),
    inputs.map(({ service }) => service),
    inputs.map(({ estimateMicros }) => estimateMicros),
    inputs.map(({ idempotencyKey }) => idempotencyKey),
    inputs.map(({ holderId }) => holderId),
    inputs.map(({ holdMicros }) => holdMicros),
    inputs.map(({ holdMinMicros }) => holdMinMicros),
    graceDays,
  ]);
  return inInputOrder(rows);
};

const ADMIT_KEYED = {
  name: 'admit_key_requests',
  text: `SELECT place, verdict, resets_at, rate_remaining, rate_reset_ms, tokens_remaining, duplicate_of, duplicate_state
    FROM admit_key_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
};

/** Decides on API-key requests in one round trip. Returns the decisions in input order. */
export const admitKeyRequests = async (
  database: Knex,
  inputs: readonly KeyAdmissionInput[],
): Promise<KeyDecision[]> => {
  const rows = await runPrepared<Placed<KeyDecision>>(database, ADMIT_KEYED, [
    inputs.map(({ requestId }) => requestId),
    inputs.map(({ userId }) => userId),
    inputs.map(({ keyId }) => keyId),
    inputs.map(({ holdMicros }) => holdMicros),
    inputs.map(({ requestsPerMinute }) => requestsPerMinute),
    inputs.map(({ monthlyLimitMicros }) => monthlyLimitMicros),
    inputs.map(({ holderId }) => holderId),
    inputs.map(({ estimateMicros }) => estimateMicros),
    inputs.map(({ idempotencyKey }) => idempotencyKey),
    inputs.map(({ tokensPerMinute }) => tokensPerMinute),
    inputs.map(({ tokens }) => tokens),
    inputs.map(({ tokensLeast }) => tokensLeast),
  ]);
  return inInputOrder(rows);
};

const inInputOrder = <T>(rows: Placed<T>[]): T[] => rows.sort((one, other) => one.place - other.place);
