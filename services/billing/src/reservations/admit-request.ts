import type { Admission, DelegatedAdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { admitDelegatedRequests, type DelegatedDecision } from './admission-queries.ts';
import { batchByOwner } from './batch-by-owner.ts';
import type { ReservationMeters } from './meters.ts';
import type { AdmissionVerdict } from './reservation.ts';

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
