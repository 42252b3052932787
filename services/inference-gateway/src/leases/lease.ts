import {
  type KeyLimits,
  LEASE_MS,
  type LeaseAnswer,
  type LeaseAsk,
  type LeaseReport,
  type SpentLease,
} from '@svc/contracts';
import { UnorderedSet } from '@svc/service-kit';
import { createKeyPace, KeyMinute, type LimitState } from './key-use.ts';

/** Amounts that one request needs at most. */
export interface RequestNeed {
  readonly micros: number;
  /** Least amount that can serve it, if its output can be limited. */
  readonly microsLeast?: number;
  /** Cost before its response begins. */
  readonly knownMicros: number;
  readonly tokens: number;
  /** Fewest tokens that can serve it; lower than `tokens` if it sets no output limit. */
  readonly tokensLeast: number;
}

/** Part of a lease that a running request holds. */
export interface Spending {
  readonly lease: SpentLease;
  /** Sets the measure of the cost so far, which stays charged if this process dies. */
  readonly measureBy: (costSoFarMicros: () => number) => void;
  /** Ends the request: what it did not use goes back to the lease. Tokens are null if unknown. Ignores later calls. */
  readonly end: (used: Used) => void;
}

export interface Used {
  readonly micros: number;
  readonly tokens: number | null;
}

export interface LeaseIdentity {
  readonly id: string;
  readonly userId: string;
  readonly keyId: string;
  /** Creator of the key; null if unknown. */
  readonly memberId: string | null;
  readonly limits: KeyLimits;
}

/** Rest of a key's limits per minute; absent without a limit. */
export interface KeyLimitStates {
  readonly requests?: LimitState;
  readonly tokens?: LimitState;
}

interface Running {
  costSoFar: () => number;
}

/**
 * A lease, empty until billing grants it something. Amounts are sums since it began: what was granted equals what was returned,
 * consumed by ended requests, held by running ones, and spare. Times are milliseconds of a monotonic clock.
 */
export class Lease {
  readonly identity: LeaseIdentity;
  readonly pace = createKeyPace();
  readonly #running = new UnorderedSet<Running>();
  #granted = 0;
  #returned = 0;
  #consumed = 0;
  #held = 0;
  #usableUntilMs = Number.NEGATIVE_INFINITY;
  #minute = new KeyMinute(0, Number.NEGATIVE_INFINITY);
  #left: Pick<LeaseAnswer, 'requests_left' | 'tokens_left'> = { requests_left: null, tokens_left: null };

  constructor(identity: LeaseIdentity) {
    this.identity = identity;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  get spareMicros(): number {
    return this.#granted - this.#returned - this.#consumed - this.#held;
  }

  get hasSpare(): boolean {
    return this.spareMicros > 0 || this.#minute.spare('requests') > 0 || this.#minute.spare('tokens') > 0;
  }

  /** True as long as billing has granted nothing. */
  get isEmpty(): boolean {
    return this.#granted === 0 && !this.#minute.isGranted;
  }

  get #hasRequestLimit(): boolean {
    return this.identity.limits.requests_per_minute !== null;
  }

  get #hasTokenLimit(): boolean {
    return this.identity.limits.tokens_per_minute !== null;
  }

  #isUsable(nowMs: number): boolean {
    return nowMs < this.#usableUntilMs;
  }

  /** Returns true if the lease covers a request now. */
  covers(need: RequestNeed, nowMs: number): boolean {
    if (!this.#isUsable(nowMs) || need.micros > this.spareMicros) return false;
    if (!this.#hasRequestLimit && !this.#hasTokenLimit) return true;
    return (
      !this.#minute.isOver(nowMs) &&
      (!this.#hasRequestLimit || this.#minute.spare('requests') >= 1) &&
      (!this.#hasTokenLimit || this.#minute.spare('tokens') >= need.tokens)
    );
  }

  /** Takes a request's part, which was granted. `tokens` are fewer than it needs if the minute had no more. */
  take(need: RequestNeed, tokens: number, nowMs: number): Spending {
    const hold = need.micros;
    const minute = this.#minute;
    const entry: Running = { costSoFar: () => need.knownMicros };
    const remove = this.#running.add(entry);
    this.#held += hold;
    if (this.#hasRequestLimit) minute.use('requests', 1);
    if (this.#hasTokenLimit) minute.use('tokens', tokens);
    this.pace.noteStart({ micros: hold, tokens }, nowMs);
    let isEnded = false;
    return {
      lease: { lease_id: this.identity.id, hold_micros: hold },
      measureBy: (costSoFar) => {
        entry.costSoFar = costSoFar;
      },
      end: (used) => {
        if (isEnded) return;
        isEnded = true;
        remove();
        const cost = Math.min(used.micros, hold);
        this.#held -= hold;
        this.#consumed += cost;
        const unused = this.#hasTokenLimit ? Math.max(0, tokens - (used.tokens ?? tokens)) : 0;
        minute.use('tokens', -unused);
        this.pace.noteEnd({ held: { micros: hold, tokens }, used: { micros: cost, tokens: tokens - unused } });
      },
    };
  }

  /** Gives back everything that no request holds. */
  giveUp(): void {
    this.giveUpBeyond({ micros: 0, requests: 0, tokens: 0 });
    this.#usableUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Gives back what exceeds the amounts that the key will need soon. */
  giveUpBeyond(soon: LeaseAsk['wanted']): void {
    this.#returned += Math.max(0, this.spareMicros - soon.micros);
    for (const unit of ['requests', 'tokens'] as const) {
      this.#minute.giveBack(unit, this.#minute.spare(unit) - soon[unit]);
    }
  }

  /** Returns what is missing to the amounts that the key will need soon. */
  missingTo(soon: LeaseAsk['wanted'], nowMs: number): LeaseAsk['wanted'] {
    return {
      micros: Math.max(0, soon.micros - this.spareMicros),
      requests: this.#hasRequestLimit ? this.#minute.missingTo('requests', soon, nowMs) : 0,
      tokens: this.#hasTokenLimit ? this.#minute.missingTo('tokens', soon, nowMs) : 0,
    };
  }

  report(isEnded = false): LeaseReport {
    let cost = this.#consumed;
    for (const { costSoFar } of this.#running) cost += costSoFar();
    return {
      returned_micros: this.#returned,
      known_micros: Math.min(cost, this.#granted - this.#returned),
      returned_in_minute: this.#minute.returned(),
      is_ended: isEnded,
    };
  }

  /** Accepts billing's response to an ask that was sent at `sentAtMs`. */
  accept(answer: LeaseAnswer, sentAtMs: number): void {
    this.#granted = Math.max(this.#granted, answer.granted_micros);
    this.#minute = this.#minute.after(answer, sentAtMs);
    this.#left = answer;
    if (answer.state === 'held') this.#usableUntilMs = sentAtMs + Math.min(LEASE_MS, answer.month_ends_in_ms);
  }

  limitStates(nowMs: number): KeyLimitStates {
    const { requests_per_minute: requests, tokens_per_minute: tokens } = this.identity.limits;
    const { requests_left, tokens_left } = this.#left;
    return {
      ...(requests === null ? {} : { requests: this.#minute.limitState('requests', requests, requests_left, nowMs) }),
      ...(tokens === null ? {} : { tokens: this.#minute.limitState('tokens', tokens, tokens_left, nowMs) }),
    };
  }
}
