import type { DelegatedAdmissionRequest, ReservationState } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { AdmissionVerdict } from './reservation.ts';

export interface DelegatedDecision {
  readonly verdict: AdmissionVerdict;
  readonly resets_at: Date | null;
  readonly duplicate_of: string | null;
  readonly duplicate_state: ReservationState | null;
  /** Hold of an admitted request; null otherwise. */
  readonly hold_micros: number | null;
  /** Set if a cap refuses the request, and extra use is on but does not cover it. */
  readonly extra_reason: 'ceiling' | 'wallet' | null;
}

/** A decision with the position of its request, from 1. The database decides in lock order. */
type Placed<T> = T & { readonly place: number };

const ADMIT_DELEGATED = {
  name: 'admit_delegated_requests',
  text: `SELECT place, verdict, resets_at, duplicate_of, duplicate_state, hold_micros, extra_reason
    FROM admit_delegated_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(days => $10))`,
};

/** Decides on delegated requests in one round trip. Returns the decisions in their order. */
export const admitDelegatedRequests = async (
  database: Knex,
  requests: readonly DelegatedAdmissionRequest[],
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

const inOrder = <T>(rows: Placed<T>[]): T[] => rows.sort((one, other) => one.place - other.place);
