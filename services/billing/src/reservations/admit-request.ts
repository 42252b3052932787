import type { Admission, AdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  admitDelegatedRequests,
  admitKeyRequests,
  type DelegatedAdmissionInput,
  type DelegatedDecision,
  type KeyAdmissionInput,
  type KeyDecision,
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

type DelegatedRequest = Extract<AdmissionRequest, { kind: 'delegated' }>;
type KeyRequest = Extract<AdmissionRequest, { kind: 'api_key' }>;
const ownerOf = ({ userId }: { readonly userId: string }): string => userId;

/**
 * Creates the operation that decides if a request may be forwarded, and reserves its cost. Idempotent by request id: a
 * repeated call returns the same decision and reserves nothing more. Throws 422 if another account or key has used the
 * request id.
 */
export const createAdmission = (deps: AdmissionDeps): ((request: AdmissionRequest) => Promise<Admission>) => {
  const { database, pastDueGraceDays, meters } = deps;
  const admitDelegated = batchByOwner<DelegatedAdmissionInput, DelegatedDecision>(
    (inputs) => admitDelegatedRequests(database, inputs, pastDueGraceDays),
    ownerOf,
  );
  const admitKeyed = batchByOwner<KeyAdmissionInput, KeyDecision>(
    (inputs) => admitKeyRequests(database, inputs),
    ownerOf,
  );
  return async (request) => {
    if (request.kind === 'delegated') {
      const decision = await admitDelegated(toDelegatedInput(request));
      meters.admission(request.kind, decision.verdict);
      return toDelegatedAdmission(decision, request.hold_micros ?? 0);
    }
    const decision = await admitKeyed(toKeyInput(request));
    meters.admission(request.kind, decision.verdict);
    return toKeyAdmission(decision, request);
  };
};

const toDelegatedInput = (request: DelegatedRequest): DelegatedAdmissionInput => ({
  requestId: request.request_id,
  userId: request.svc_user_id,
  clientId: request.client_id,
  service: request.service,
  estimateMicros: request.estimate_micros,
  holdMicros: request.hold_micros ?? null,
  holdMinMicros: request.hold_min_micros ?? null,
  idempotencyKey: request.idempotency_key ?? null,
  holderId: request.holder_id ?? null,
});

const toKeyInput = (request: KeyRequest): KeyAdmissionInput => ({
  requestId: request.request_id,
  userId: request.svc_user_id,
  keyId: request.key_id,
  holdMicros: request.hold_micros,
  requestsPerMinute: request.requests_per_minute,
  monthlyLimitMicros: request.monthly_limit_micros,
  holderId: request.holder_id ?? null,
  estimateMicros: request.estimate_micros ?? null,
  idempotencyKey: request.idempotency_key ?? null,
  tokensPerMinute: request.tokens_per_minute ?? null,
  tokens: request.tokens ?? null,
  tokensLeast: request.tokens_least ?? null,
});

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
