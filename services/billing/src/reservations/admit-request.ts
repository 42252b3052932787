import type { Admission, AdmissionRequest } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ReservationMeters } from './meters.ts';
import { admitDelegated, admitKeyed } from './queries.ts';
import type { AdmissionVerdict } from './reservation.ts';

/** What admission needs. */
export interface AdmissionDeps {
  readonly database: Knex;
  readonly pastDueGraceDays: number;
  readonly meters: ReservationMeters;
}

/**
 * Decides whether a request may be forwarded, and reserves for it. Asking again for one request answers the same and
 * takes no second place. Throws 422 for a request id that another account or key has used.
 */
export const admitRequest = async (deps: AdmissionDeps, request: AdmissionRequest): Promise<Admission> =>
  request.kind === 'delegated' ? admitDelegatedRequest(deps, request) : admitKeyedRequest(deps, request);

const admitDelegatedRequest = async (
  deps: AdmissionDeps,
  request: Extract<AdmissionRequest, { kind: 'delegated' }>,
): Promise<Admission> => {
  const answer = await admitDelegated(deps.database, {
    requestId: request.request_id,
    userId: request.svc_user_id,
    clientId: request.client_id,
    service: request.service,
    estimateMicros: request.estimate_micros,
    idempotencyKey: request.idempotency_key ?? null,
    graceDays: deps.pastDueGraceDays,
  });
  deps.meters.admission('delegated', answer.verdict);
  const { duplicate_of, duplicate_state } = answer;
  return {
    verdict: toVerdict(answer.verdict),
    ...(answer.resets_at === null ? {} : { resets_at: answer.resets_at.toISOString() }),
    ...(duplicate_of === null || duplicate_state === null
      ? {}
      : { duplicate_of: { request_id: duplicate_of, state: duplicate_state } }),
  };
};

const admitKeyedRequest = async (
  deps: AdmissionDeps,
  request: Extract<AdmissionRequest, { kind: 'api_key' }>,
): Promise<Admission> => {
  const limit = request.requests_per_minute;
  const answer = await admitKeyed(deps.database, {
    requestId: request.request_id,
    userId: request.svc_user_id,
    keyId: request.key_id,
    holdMicros: request.hold_micros,
    requestsPerMinute: limit,
    monthlyLimitMicros: request.monthly_limit_micros,
  });
  deps.meters.admission('api_key', answer.verdict);
  return {
    verdict: toVerdict(answer.verdict),
    ...(answer.resets_at === null ? {} : { resets_at: answer.resets_at.toISOString() }),
    ...(limit === null || answer.rate_remaining === null
      ? {}
      : { rate_limit: { limit, remaining: answer.rate_remaining, reset_ms: answer.rate_reset_ms } }),
  };
};

const toVerdict = (verdict: AdmissionVerdict): Admission['verdict'] => {
  if (verdict !== 'request_id_taken') return verdict;
  throw invalidField(['body', 'request_id'], 'value_error', 'Value error, the id belongs to another request');
};
