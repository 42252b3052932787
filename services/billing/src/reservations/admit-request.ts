import type { Admission, AdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { groupCalls } from './group-calls.ts';
import type { ReservationMeters } from './meters.ts';
import {
  admitDelegated,
  admitDelegatedMany,
  admitKeyed,
  admitKeyedMany,
  type DelegatedAnswer,
  type DelegatedQuestion,
  type KeyedAnswer,
  type KeyedQuestion,
} from './queries.ts';
import type { AdmissionVerdict } from './reservation.ts';

/** What admission needs. */
export interface AdmissionDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
  readonly meters: ReservationMeters;
}

type DelegatedRequest = Extract<AdmissionRequest, { kind: 'delegated' }>;
type KeyedRequest = Extract<AdmissionRequest, { kind: 'api_key' }>;
const keyOf = ({ userId }: { readonly userId: string }): string => userId;

/**
 * Creates the operation that decides whether a request may be forwarded, and reserves for it. Asking again for one request
 * answers the same and takes no second place. Throws 422 for a request id that another account or key has used.
 */
export const createAdmission = (deps: AdmissionDeps): ((request: AdmissionRequest) => Promise<Admission>) => {
  const { database, pastDueGraceDays, meters } = deps;
  const askDelegated = groupCalls<DelegatedQuestion, DelegatedAnswer>({
    together: (questions) => admitDelegatedMany(database, questions, pastDueGraceDays),
    alone: (question) => admitDelegated(database, question, pastDueGraceDays),
    keyOf,
  });
  const askKeyed = groupCalls<KeyedQuestion, KeyedAnswer>({
    together: (questions) => admitKeyedMany(database, questions),
    alone: (question) => admitKeyed(database, question),
    keyOf,
  });
  return async (request) => {
    if (request.kind === 'delegated') {
      const answer = await askDelegated(toDelegatedQuestion(request));
      meters.admission(request.kind, answer.verdict);
      return toDelegatedAdmission(answer);
    }
    const answer = await askKeyed(toKeyedQuestion(request));
    meters.admission(request.kind, answer.verdict);
    return toKeyedAdmission(answer, request.requests_per_minute);
  };
};

const toDelegatedQuestion = (request: DelegatedRequest): DelegatedQuestion => ({
  requestId: request.request_id,
  userId: request.svc_user_id,
  clientId: request.client_id,
  service: request.service,
  estimateMicros: request.estimate_micros,
  idempotencyKey: request.idempotency_key ?? null,
});

const toKeyedQuestion = (request: KeyedRequest): KeyedQuestion => ({
  requestId: request.request_id,
  userId: request.svc_user_id,
  keyId: request.key_id,
  holdMicros: request.hold_micros,
  requestsPerMinute: request.requests_per_minute,
  monthlyLimitMicros: request.monthly_limit_micros,
});

const toDelegatedAdmission = ({ verdict, resets_at, duplicate_of, duplicate_state }: DelegatedAnswer): Admission => ({
  verdict: toVerdict(verdict),
  ...(resets_at === null ? {} : { resets_at: resets_at.toISOString() }),
  ...(duplicate_of === null || duplicate_state === null
    ? {}
    : { duplicate_of: { request_id: duplicate_of, state: duplicate_state } }),
});

const toKeyedAdmission = (answer: KeyedAnswer, limit: number | null): Admission => ({
  verdict: toVerdict(answer.verdict),
  ...(answer.resets_at === null ? {} : { resets_at: answer.resets_at.toISOString() }),
  ...(limit === null || answer.rate_remaining === null
    ? {}
    : { rate_limit: { limit, remaining: answer.rate_remaining, reset_ms: answer.rate_reset_ms } }),
});

const toVerdict = (verdict: AdmissionVerdict): Admission['verdict'] => {
  if (verdict !== 'request_id_taken') return verdict;
  throw invalidField(['body', 'request_id'], 'value_error', 'Value error, the id belongs to another request');
};
