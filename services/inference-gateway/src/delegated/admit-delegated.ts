import { type Admission, type AdmissionRequest, PUBLIC_MODEL } from '@svc/contracts';
import { type AccessTokenCaller, AppError } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';

export interface DelegatedAdmission {
  readonly requestId: string;
  readonly caller: AccessTokenCaller;
  readonly service: 'chat' | 'audio_transcription';
  readonly isStreamed: boolean;
  /** The cost of an outcome that stays unknown. */
  readonly estimateMicros: number;
  /** The highest cost, held of the app's budget. */
  readonly holdMicros: number;
  /** The smallest hold of use, if the output can be limited. */
  readonly holdMinMicros?: number;
  readonly idempotencyKey: string | undefined;
}

export interface AdmittedRequest {
  readonly book: RequestBook;
  /** Hold of the app's budget; less than asked for if the budget covers no more. */
  readonly holdMicros: number;
}

/**
 * Asks billing to admit a request, and opens its book. Throws the refusal, or `service_unavailable` if billing gives no decision
 * or too many records wait to be written.
 */
export const admitDelegated = async (deps: InferenceDeps, admission: DelegatedAdmission): Promise<AdmittedRequest> => {
  if (!deps.usage.hasRoom()) throw new AppError('service_unavailable');
  const { requestId, caller, service, estimateMicros, holdMicros, holdMinMicros, idempotencyKey } = admission;
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
    hold_micros: holdMicros,
    ...(holdMinMicros === undefined ? {} : { hold_min_micros: holdMinMicros }),
    holder_id: deps.holder.id,
    ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
  };
  const answer = await deps.billing.admit(request).catch((error: unknown) => {
    // Billing may have admitted it without our hearing of it: this gives the place back.
    void book.finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  if (answer.verdict !== 'admitted') throw toRefusal(deps, answer, answer.verdict);
  return { book, holdMicros: answer.hold_micros ?? holdMicros };
};

type Refusal = Exclude<Admission['verdict'], 'admitted'>;

const REFUSAL_HEADERS: Readonly<Partial<Record<Refusal, Readonly<Record<string, string>>>>> = {
  // The common SDKs repeat every 409; this one would say the same each time.
  duplicate_request: { 'x-should-retry': 'false' },
  // The end of running requests is unknown; this only keeps callers from asking in a loop.
  subscription_requests_pending: { 'retry-after': '1' },
  app_requests_pending: { 'retry-after': '1' },
};

/** Refusals that the user can lift in the console. */
const MANAGED: ReadonlySet<Refusal> = new Set(['connection_paused', 'app_budget_expired', 'app_limit_exceeded']);

const toRefusal = ({ manageUrl }: InferenceDeps, answer: Admission, verdict: Refusal): AppError =>
  new AppError(verdict, undefined, {
    details: {
      ...(answer.resets_at === undefined ? {} : { resets_at: answer.resets_at }),
      // A total never resets.
      ...(verdict === 'app_limit_exceeded' ? { resets_at: answer.resets_at ?? null } : {}),
      ...(MANAGED.has(verdict) ? { manage_url: manageUrl } : {}),
      ...(answer.duplicate_of === undefined ? {} : answer.duplicate_of),
    },
    headers: REFUSAL_HEADERS[verdict] ?? {},
  });
