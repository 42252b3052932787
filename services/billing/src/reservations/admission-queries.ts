import type { AdmissionRequest, ReservationState } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { AdmissionVerdict } from './reservation.ts';

export type DelegatedRequest = Extract<AdmissionRequest, { kind: 'delegated' }>;
export type KeyRequest = Extract<AdmissionRequest, { kind: 'api_key' }>;

export interface DelegatedDecision {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
  /** Hold of an admitted request; null otherwise. */
  readonly hold_micros: number | null;
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

/** A decision with the position of its request, from 1. The database decides in lock order. */
type Placed<T> = T & { readonly place: number };

const ADMIT_DELEGATED = {
  name: 'admit_delegated_requests',
  text: `SELECT place, verdict, resets_at, duplicate_of, duplicate_state, hold_micros
    FROM admit_delegated_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(days => $10))`,
};

/** Decides on delegated requests in one round trip. Returns the decisions in their order. */
export const admitDelegatedRequests = async (
  database: Knex,
  requests: readonly DelegatedRequest[],
  graceDays: number,
): Promise<DelegatedDecision[]> => {
  const rows = await runPrepared<Placed<DelegatedDecision>>(database, ADMIT_DELEGATED, [
    requests.map(({ request_id }) => request_id),
    requests.map(({ svc_user_id }) => svc_user_id),
    requests.map(({ client_id }) => client_id),
    requests.map(({ service }) => service),
    requests.map(({ estimate_micros }) => estimate_micros),
    requests.map(({ idempotency_key }) => idempotency_key ?? null),
    requests.map(({ holder_id }) => holder_id ?? null),
    requests.map(({ hold_micros }) => hold_micros ?? null),
    requests.map(({ hold_min_micros }) => hold_min_micros ?? null),
    graceDays,
  ]);
  return inOrder(rows);
};

const ADMIT_KEYED = {
  name: 'admit_key_requests',
  text: `SELECT place, verdict, resets_at, rate_remaining, rate_reset_ms, tokens_remaining, duplicate_of, duplicate_state
    FROM admit_key_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
};

/** Decides on API-key requests in one round trip. Returns the decisions in their order. */
export const admitKeyRequests = async (database: Knex, requests: readonly KeyRequest[]): Promise<KeyDecision[]> => {
  const rows = await runPrepared<Placed<KeyDecision>>(database, ADMIT_KEYED, [
    requests.map(({ request_id }) => request_id),
    requests.map(({ svc_user_id }) => svc_user_id),
    requests.map(({ key_id }) => key_id),
    requests.map(({ hold_micros }) => hold_micros),
    requests.map(({ requests_per_minute }) => requests_per_minute),
    requests.map(({ monthly_limit_micros }) => monthly_limit_micros),
    requests.map(({ holder_id }) => holder_id ?? null),
    requests.map(({ estimate_micros }) => estimate_micros ?? null),
    requests.map(({ idempotency_key }) => idempotency_key ?? null),
    requests.map(({ tokens_per_minute }) => tokens_per_minute ?? null),
    requests.map(({ tokens }) => tokens ?? null),
    requests.map(({ tokens_least }) => tokens_least ?? null),
  ]);
  return inOrder(rows);
};

const inOrder = <T>(rows: Placed<T>[]): T[] => rows.sort((one, other) => one.place - other.place);
