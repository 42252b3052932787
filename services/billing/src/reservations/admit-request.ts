import type { Admission, AdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  admitDelegatedRequests,
  admitKeyRequests,
  type DelegatedDecision,
  type DelegatedRequest,
  type KeyDecision,
  type KeyRequest,
} from './admission-queries.ts';
import { batchByOwner } from './batch-by-owner.ts';
import { limitState } from './limit-state.ts';
import type { ReservationMeters } from './meters.ts';
import type { AdmissionVerdict } from './reservation.ts';

export interface AdmissionDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
  readonly meters: ReservationMeters;
}

const ownerOf = ({ svc_user_id }: AdmissionRequest): string => svc_user_id;

/**
 * Creates the operation that decides if a request may be forwarded, and reserves its cost. Idempotent by request id: a
 * repeated call returns the same decision and reserves nothing more. Throws 422 if another account or key has used the
 * request id.
 */
export const createAdmission = (deps: AdmissionDeps): ((request: AdmissionRequest) => Promise<Admission>) => {
  const { database, pastDueGraceDays, meters } = deps;
  const admitDelegated = batchByOwner<DelegatedRequest, DelegatedDecision>(
    (requests) => admitDelegatedRequests(database, requests, pastDueGraceDays),
    ownerOf,
  );
  const admitKeyed = batchByOwner<KeyRequest, KeyDecision>((requests) => admitKeyRequests(database, requests), ownerOf);
  return async (request) => {
    if (request.kind === 'delegated') {
      const decision = await admitDelegated(request);
      meters.admission(request.kind, decision.verdict);
      return toDelegatedAdmission(decision, request.hold_micros ?? 0);
    }
    const decision = await admitKeyed(request);
    meters.admission(request.kind, decision.verdict);
    return toKeyAdmission(decision, request);
  };
};

/** Maps a decision to the contract. Includes the hold only if it is lower than requested. */
const toDelegatedAdmission = (decision: DelegatedDecision, requestedMicros: number): Admission => ({
  verdict: toVerdict(decision.verdict),
  ...(decision.resets_at === null ? {} : { resets_at: decision.resets_at.toISOString() }),
  ...duplicateOf(decision),
  ...(decision.hold_micros === null || decision.hold_micros >= requestedMicros
    ? {}
    : { hold_micros: decision.hold_micros }),
});

const toKeyAdmission = (decision: KeyDecision, limits: KeyRequest): Admission => ({
  verdict: toVerdict(decision.verdict),
  ...(decision.resets_at === null ? {} : { resets_at: decision.resets_at.toISOString() }),
  ...limitState('rate_limit', limits.requests_per_minute, decision.rate_remaining, decision.rate_reset_ms),
  ...limitState('token_limit', limits.tokens_per_minute, decision.tokens_remaining, decision.rate_reset_ms),
  ...duplicateOf(decision),
});

const duplicateOf = ({
  duplicate_of,
  duplicate_state,
}: Pick<KeyDecision, 'duplicate_of' | 'duplicate_state'>): Pick<Admission, 'duplicate_of'> =>
  duplicate_of === null || duplicate_state === null
    ? {}
    : { duplicate_of: { request_id: duplicate_of, state: duplicate_state } };

const toVerdict = (verdict: AdmissionVerdict): Admission['verdict'] => {
  if (verdict !== 'request_id_taken') return verdict;
  throw invalidField(['body', 'request_id'], 'value_error', 'Value error, the id belongs to another request');
};
