import type { Admission, AdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  admitDelegatedRequests,
  admitKeyRequests,
  type DelegatedDecision,
  type DelegatedQuestion,
  type KeyDecision,
  type KeyQuestion,
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
 * Creates the operation that decides whether a request may be forwarded, and reserves for it. Asking again for one request
 * answers the same and takes no second place. Throws 422 for a request id that another account or key has used.
 */
export const createAdmission = (deps: AdmissionDeps): ((request: AdmissionRequest) => Promise<Admission>) => {
  const { database, pastDueGraceDays, meters } = deps;
  const admitDelegated = batchByOwner<DelegatedQuestion, DelegatedDecision>(
    (questions) => admitDelegatedRequests(database, questions, pastDueGraceDays),
    ownerOf,
  );
  const admitKeyed = batchByOwner<KeyQuestion, KeyDecision>(
    (questions) => admitKeyRequests(database, questions),
    ownerOf,
  );
  return async (request) => {
    if (request.kind === 'delegated') {
      const decision = await admitDelegated(toDelegatedQuestion(request));
      meters.admission(request.kind, decision.verdict);
      return toDelegatedAdmission(decision, request.hold_micros ?? 0);
    }
    const decision = await admitKeyed(toKeyQuestion(request));
    meters.admission(request.kind, decision.verdict);
    return toKeyAdmission(decision, request);
  };
};

const toDelegatedQuestion = (request: DelegatedRequest): DelegatedQuestion => ({
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

const toKeyQuestion = (request: KeyRequest): KeyQuestion => ({
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

/** The hold is told only if it is less than asked for. */
const toDelegatedAdmission = (decision: DelegatedDecision, askedMicros: number): Admission => ({
  verdict: toVerdict(decision.verdict),
  ...(decision.resets_at === null ? {} : { resets_at: decision.resets_at.toISOString() }),
  ...duplicateOf(decision),
  ...(decision.hold_micros === null || decision.hold_micros >= askedMicros
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
