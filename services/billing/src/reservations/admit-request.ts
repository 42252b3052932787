import type { Admission, DelegatedAdmissionRequest, ReservationState } from '@svc/contracts';
import { runPrepared } from '@svc/database';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { batchByOwner } from './batch-by-owner.ts';
import type { ReservationMeters } from './meters.ts';
import type { AdmissionVerdict } from './reservation.ts';

interface DelegatedDecision {
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

export interface AdmissionDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
  readonly meters: ReservationMeters;
  /** Recalls what leases hold unspent of a wallet. Returns false if there are none. */
  readonly recallWallet: (userId: string) => Promise<boolean>;
}

/**
 * Creates the operation that decides if a delegated request may be forwarded, and reserves its cost. Before it refuses one that
 * the wallet could pay, the unspent parts of the wallet's leases are recalled. Idempotent by request id: a repeated call returns
 * the same decision and reserves nothing more. Returns null at once if the account or its wallet is locked. Throws 422 if
 * another account or app has used the request id.
 */
export const createAdmission = (
  deps: AdmissionDeps,
): ((request: DelegatedAdmissionRequest) => Promise<Admission | null>) => {
  const { database, pastDueGraceDays, meters, recallWallet } = deps;
  const admit = batchByOwner<DelegatedAdmissionRequest, DelegatedDecision>(
    (requests) => admitDelegatedRequests(database, requests, pastDueGraceDays),
    ({ svc_user_id }) => svc_user_id,
  );
  return async (request) => {
    const first = await admit(request);
    const isDecided = first.extra_reason !== 'wallet' || !(await recallWallet(request.svc_user_id));
    const decision = isDecided ? first : await admit(request);
    meters.admission(decision.verdict);
    const { verdict } = decision;
    return verdict === 'busy' ? null : toAdmission({ ...decision, verdict }, request.hold_micros ?? 0);
  };
};

type Decided = Exclude<AdmissionVerdict, 'busy'>;

/** Maps a decision to the contract. Includes the hold only if it is lower than requested. */
const toAdmission = (
  decision: DelegatedDecision & { readonly verdict: Decided },
  requestedMicros: number,
): Admission => ({
  verdict: toVerdict(decision.verdict),
  ...(decision.resets_at === null ? {} : { resets_at: decision.resets_at.toISOString() }),
  ...(decision.duplicate_of === null || decision.duplicate_state === null
    ? {}
    : { duplicate_of: { request_id: decision.duplicate_of, state: decision.duplicate_state } }),
  ...(decision.hold_micros === null || decision.hold_micros >= requestedMicros
    ? {}
    : { hold_micros: decision.hold_micros }),
  ...(decision.extra_reason === null ? {} : { extra: { reason: decision.extra_reason } }),
});

const toVerdict = (verdict: Decided): Admission['verdict'] => {
  if (verdict !== 'request_id_taken') return verdict;
  throw invalidField(['body', 'request_id'], 'value_error', 'Value error, the id belongs to another request');
};
