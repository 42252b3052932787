import type { Span } from '@opentelemetry/api';
import type { KeyLimits, LeaseAsk, LeaseDecision } from '@svc/contracts';
import type { ApiKeyCaller } from '@svc/service-kit';
import type { KeyLimitStates, Lease, RequestNeed, Spending } from './lease.ts';

/** A lease in the book, with its requests that wait for billing. */
export interface KeptLease {
  readonly lease: Lease;
  readonly waiting: WaitingRequest[];
  /** Requests of the ask under way. */
  asked: WaitingRequest[];
  isAsking: boolean;
  /** True if the ask under way reports the end of the lease. */
  isEnding: boolean;
  /** True if the lease gets no more requests. */
  isDraining: boolean;
  /** True if billing may not know the lease as it is, because the last call failed. */
  isDirty: boolean;
  /** True once a call has failed, whose ask may still reach billing. */
  hasUnanswered: boolean;
  /** True if billing could not decide because the wallet was locked. */
  isBusy: boolean;
  askedAtMs: number;
}

/** A lease without a new request for this long goes back. */
const IDLE_MS = 800;
/** A lease in use is renewed this often, so that it outlasts three silent seconds of billing. */
const RENEW_MS = 1_000;
/** A lease whose requests only run is reported this often. */
const REPORT_MS = 3_000;
const RETRY_MS = 500;
const NOTHING = { micros: 0, requests: 0, tokens: 0 };

const isIdle = ({ lease, isDraining }: KeptLease, nowMs: number): boolean =>
  isDraining || nowMs - lease.pace.lastStartMs() >= IDLE_MS;

/** Returns true if billing should hear of a lease now, although no request waits. */
export const isReportDue = (kept: KeptLease, nowMs: number): boolean => {
  const { lease, askedAtMs } = kept;
  const sinceMs = nowMs - askedAtMs;
  if (kept.isDirty) return sinceMs >= RETRY_MS;
  if (!isIdle(kept, nowMs)) return sinceMs >= RENEW_MS;
  return lease.runningCount === 0 || lease.spareMicros > 0 || sinceMs >= REPORT_MS;
};

/** Returns true if less than half of what a key will need soon is left. */
export const isRunningLow = ({ lease }: KeptLease, nowMs: number): boolean => {
  const soon = lease.pace.needsSoon(nowMs);
  const missing = lease.missingTo(soon, nowMs);
  return missing.micros * 2 > soon.micros || missing.requests * 2 > soon.requests || missing.tokens * 2 > soon.tokens;
};

/**
 * Builds the ask of a lease: its report, the requests that wait, and what its key will need soon. An idle lease gives its spare
 * part back, and ends if nothing runs on it.
 */
export const toAsk = (kept: KeptLease, nowMs: number): LeaseAsk => {
  const { lease, asked } = kept;
  const isUnused = asked.length === 0 && isIdle(kept, nowMs);
  if (isUnused) lease.giveUp();
  kept.isEnding = isUnused && lease.runningCount === 0;
  const soon = isUnused ? NOTHING : lease.pace.needsSoon(nowMs);
  if (!isUnused) lease.giveUpBeyond({ micros: soon.micros * 2, requests: soon.requests * 2, tokens: soon.tokens * 2 });
  return {
    lease_id: lease.identity.id,
    svc_user_id: lease.identity.userId,
    key_id: lease.identity.keyId,
    member_id: lease.identity.memberId,
    limits: lease.identity.limits,
    report: lease.report(kept.isEnding),
    needs: asked.map(({ request, isProbe, givenUpTimes }) => ({
      request_id: request.requestId,
      micros: request.micros,
      // The lease's own spare part is part of what is left, so it goes back first.
      ...(request.microsLeast !== undefined && (givenUpTimes > 0 || lease.spareMicros === 0)
        ? { micros_least: request.microsLeast }
        : {}),
      known_micros: request.knownMicros,
      tokens: request.tokens,
      tokens_least: request.tokensLeast,
      ...(request.idempotencyKey === undefined ? {} : { idempotency_key: request.idempotencyKey }),
      ...(isProbe ? { is_probe: true } : {}),
    })),
    wanted: isUnused ? NOTHING : lease.missingTo(soon, nowMs),
    ...(kept.hasUnanswered ? { has_unanswered: true } : {}),
  };
};

/** A request that a lease of its key pays. */
export interface LeaseRequest extends RequestNeed {
  readonly requestId: string;
  /** Billing decides on every request with one, because it remembers them. */
  readonly idempotencyKey?: string | undefined;
}

/** Billing's refusal of a request. */
export interface LeaseRefusal extends Omit<LeaseDecision, 'verdict'> {
  readonly verdict: Exclude<LeaseDecision['verdict'], 'granted'>;
  readonly limits: KeyLimitStates;
}

/** A granted request: what it holds, and the rest of the key's limits. */
export interface LeaseGrant {
  readonly verdict: 'granted';
  readonly spending: Spending;
  readonly limits: KeyLimitStates;
}

/** A request that waits for billing. A probe asks whether its key can spend anything. */
export interface WaitingRequest {
  readonly caller: ApiKeyCaller;
  readonly request: LeaseRequest;
  readonly isProbe: boolean;
  readonly askedAtMs: number;
  readonly span: Span | undefined;
  readonly resolve: (decision: LeaseRefusal | LeaseGrant | 'can_spend') => void;
  readonly reject: (error: unknown) => void;
  /** True once it is answered, or its deadline has passed. */
  isOver: boolean;
  /** Times that its lease has given back its own spare part for it. */
  givenUpTimes: number;
}

export const limitsOf = (caller: ApiKeyCaller): KeyLimits => ({
  requests_per_minute: caller.requestsPerMinute ?? null,
  tokens_per_minute: caller.tokensPerMinute ?? null,
  monthly_limit_micros: caller.monthlyLimitMicros ?? null,
});

export const isSameLimits = (limits: KeyLimits, caller: ApiKeyCaller): boolean =>
  limits.requests_per_minute === (caller.requestsPerMinute ?? null) &&
  limits.tokens_per_minute === (caller.tokensPerMinute ?? null) &&
  limits.monthly_limit_micros === (caller.monthlyLimitMicros ?? null);
