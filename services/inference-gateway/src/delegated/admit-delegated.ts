import { type Admission, type AdmissionRequest, PUBLIC_MODEL } from '@svc/contracts';
import { type AccessTokenCaller, AppError } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';

/** What is asked for. */
export interface DelegatedAdmission {
  readonly requestId: string;
  readonly caller: AccessTokenCaller;
  readonly service: 'chat' | 'audio_transcription';
  readonly isStreamed: boolean;
  /** What the request is settled at if nobody ever learns its outcome. */
  readonly estimateMicros: number;
  readonly idempotencyKey: string | undefined;
}

/**
 * Asks billing to admit a request, and opens its book. Throws what the caller is to be told: the refusal, or
 * `service_unavailable` where billing does not say or too many records wait to be written.
 */
export const admitDelegated = async (deps: InferenceDeps, admission: DelegatedAdmission): Promise<RequestBook> => {
  if (!deps.usage.hasRoom()) throw new AppError('service_unavailable');
  const { requestId, caller, service, estimateMicros, idempotencyKey } = admission;
  const book = openRequestBook({
    identity: {
      requestId,
      kind: 'delegated',
      userId: caller.userId,
      clientId: caller.clientId,
      keyId: null,
      service,
      model: PUBLIC_MODEL,
      ingressRegion: deps.ingressRegion,
      isStreamed: admission.isStreamed,
      startedAtMs: deps.clock(),
    },
    estimateMicros,
    usage: deps.usage,
    // The usage is counted and the place free when the caller sees the end.
    settle: deps.billing.settle,
    clock: deps.clock,
  });
  const request: AdmissionRequest = {
    kind: 'delegated',
    request_id: requestId,
    svc_user_id: caller.userId,
    client_id: caller.clientId,
    service,
    estimate_micros: estimateMicros,
    holder_id: deps.holder.id,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  };
  const answer = await deps.billing.admit(request).catch((error: unknown) => {
    // Billing may have admitted it without our hearing of it: this gives the place back.
    void book.finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  if (answer.verdict !== 'admitted') throw toRefusal(answer, answer.verdict);
  return book;
};

type Refusal = Exclude<Admission['verdict'], 'admitted'>;

const REFUSAL_HEADERS: Readonly<Partial<Record<Refusal, Readonly<Record<string, string>>>>> = {
  // The common SDKs repeat every 409; this one would say the same each time.
  duplicate_request: { 'x-should-retry': 'false' },
  // Nobody knows when one of the two ends; this only keeps callers from asking in a loop.
  subscription_requests_pending: { 'retry-after': '1' },
};

const toRefusal = (answer: Admission, verdict: Refusal): AppError =>
  new AppError(verdict, undefined, {
    details: {
      ...(answer.resets_at === undefined ? {} : { resets_at: answer.resets_at }),
      ...(answer.duplicate_of === undefined ? {} : answer.duplicate_of),
    },
    headers: REFUSAL_HEADERS[verdict] ?? {},
  });
