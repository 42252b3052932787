import type { Span } from '@opentelemetry/api';
import type { KeyLimits, LeaseDecision } from '@svc/contracts';
import type { ApiKeyCaller } from '@svc/service-kit';
import type { KeyLimitStates, RequestNeed, Spending } from './lease.ts';

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
  /** True once its lease has given back its own spare part for it. */
  hasGivenUp: boolean;
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
