import {
  type Admission,
  type DelegatedAdmissionRequest,
  errorCodes,
  INFERENCE_JSON_BYTES_MAX,
  PUBLIC_MODEL,
} from '@svc/contracts';
import { type AccessTokenCaller, AppError, wasNeverSent } from '@svc/service-kit';
import { NO_RETRY, requireRoom } from '../forwarding/index.ts';
import { openRequestBook, type RequestBook } from '../usage-records/index.ts';
import type { DelegatedDeps } from './delegated-deps.ts';

interface DelegatedAdmission {
  readonly requestId: string;
  readonly caller: AccessTokenCaller;
  readonly service: 'chat' | 'audio_transcription';
  readonly isStreamed: boolean;
  /** Cost charged if the outcome stays unknown. */
  readonly estimateMicros: number;
  /** Maximum cost; the hold on the app's budget and on extra use. */
  readonly holdMicros: number;
  /** Smallest useful hold, if the output can be limited. */
  readonly holdMinMicros?: number;
  readonly idempotencyKey: string | undefined;
}

export interface AdmittedRequest {
  readonly book: RequestBook;
  /** Hold on the app's budget and on extra use. Smaller than requested if these cover no more. */
  readonly holdMicros: number;
}

/**
 * Asks billing to admit a request, and opens its book. Throws the refusal, or `service_unavailable` if billing returns no
 * decision or the queue of usage records is full.
 */
export const admitDelegated = async (deps: DelegatedDeps, admission: DelegatedAdmission): Promise<AdmittedRequest> => {
  const { requestId, caller, service, estimateMicros, holdMicros, holdMinMicros, idempotencyKey } = admission;
  requireRoom(deps, { account: caller.userId, bytesMax: INFERENCE_JSON_BYTES_MAX });
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
    // Settles before the last byte, so that the caller's next request sees the usage and a free slot.
    settle: deps.billing.settle,
    clock: deps.clock,
  });
  const request: DelegatedAdmissionRequest = {
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
  const response = await deps.billing.admit(request).catch((error: unknown) => {
    // Billing may have admitted the request even though its response was lost, so release the slot.
    if (!wasNeverSent(error)) void book.finishFailed({ isUncertain: false, status: 503 });
    throw error;
  });
  if (response.verdict !== 'admitted') throw toRefusal(deps, response, response.verdict);
  return { book, holdMicros: response.hold_micros ?? holdMicros };
};

type Refusal = Exclude<Admission['verdict'], 'admitted'>;

const REFUSAL_HEADERS: Readonly<Partial<Record<Refusal, Readonly<Record<string, string>>>>> = {
  // Common SDKs retry every 409, but this response would not change.
  duplicate_request: NO_RETRY,
  // The end of running requests is unknown. This only keeps callers from retrying in a tight loop.
  subscription_requests_pending: { 'retry-after': '1' },
  app_requests_pending: { 'retry-after': '1' },
};

/** Pages of the console where the user can lift a refusal. */
const MANAGED: Readonly<Partial<Record<Refusal, 'manageUrl' | 'plansUrl'>>> = {
  subscription_inactive: 'plansUrl',
  connection_paused: 'manageUrl',
  app_budget_expired: 'manageUrl',
  app_limit_exceeded: 'manageUrl',
};

const EXTRA_REASONS: Readonly<Record<NonNullable<Admission['extra']>['reason'], string>> = {
  ceiling: 'what is left of its monthly ceiling',
  wallet: 'the wallet',
};

/** Returns what extra use lacks to go on after a cap; undefined for the message of the code. */
const messageOf = ({ verdict, extra }: Admission): string | undefined => {
  if (extra === undefined || verdict === 'admitted') return undefined;
  const { description } = errorCodes[verdict];
  return `${description} Extra use does not pay this request: ${EXTRA_REASONS[extra.reason]} does not cover it.`;
};

const toRefusal = (deps: DelegatedDeps, response: Admission, verdict: Refusal): AppError => {
  const page = MANAGED[verdict];
  return new AppError(verdict, messageOf(response), {
    details: {
      ...(response.resets_at === undefined ? {} : { resets_at: response.resets_at }),
      // A total never resets.
      ...(verdict === 'app_limit_exceeded' ? { resets_at: response.resets_at ?? null } : {}),
      ...(page === undefined ? {} : { manage_url: deps[page] }),
      ...(response.extra === undefined ? {} : { extra: response.extra }),
      ...(response.duplicate_of === undefined ? {} : response.duplicate_of),
    },
    headers: REFUSAL_HEADERS[verdict] ?? {},
  });
};
