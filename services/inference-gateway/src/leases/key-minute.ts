import type { LeaseAnswer, LeaseAsk } from '@svc/contracts';

export type MinuteUnit = 'requests' | 'tokens';

const MINUTE_MS = 60_000;

/** Rest of a limit per minute. */
export interface LimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset_ms: number;
}

/** Part of a key's minute that a lease has: requests and tokens, as sums since the minute began. */
export class KeyMinute {
  readonly #id: number;
  readonly #endsAtMs: number;
  readonly #granted = { requests: 0, tokens: 0 };
  readonly #returned = { requests: 0, tokens: 0 };
  readonly #used = { requests: 0, tokens: 0 };

  constructor(id: number, endsAtMs: number) {
    this.#id = id;
    this.#endsAtMs = endsAtMs;
  }

  get isGranted(): boolean {
    return this.#granted.requests > 0 || this.#granted.tokens > 0;
  }

  isOver(nowMs: number): boolean {
    return nowMs >= this.#endsAtMs;
  }

  spare(unit: MinuteUnit): number {
    return this.#granted[unit] - this.#returned[unit] - this.#used[unit];
  }

  use(unit: MinuteUnit, count: number): void {
    this.#used[unit] += count;
  }

  giveBack(unit: MinuteUnit, count: number): void {
    this.#returned[unit] += Math.max(0, Math.min(count, this.spare(unit)));
  }

  /** Returns what is missing of an amount. */
  missingTo(unit: MinuteUnit, soon: LeaseAsk['wanted'], nowMs: number): number {
    return Math.max(0, soon[unit] - (this.isOver(nowMs) ? 0 : this.spare(unit)));
  }

  returned(): LeaseAsk['report']['returned_in_minute'] {
    return { id: this.#id, ...this.#returned };
  }

  /** Returns the minute after billing's answer: this one, or the one that has begun since. */
  after({ granted_in_minute: granted, minute_ends_in_ms }: LeaseAnswer, sentAtMs: number): KeyMinute {
    // The decision came after the ask was sent, so its end is early rather than late.
    const minute = granted.id === this.#id ? this : new KeyMinute(granted.id, sentAtMs + minute_ends_in_ms);
    minute.#granted.requests = Math.max(minute.#granted.requests, granted.requests);
    minute.#granted.tokens = Math.max(minute.#granted.tokens, granted.tokens);
    return minute;
  }

  /** Returns the rest of a limit: what no lease has, and what is spare here. */
  limitState(unit: MinuteUnit, limit: number, left: number | null, nowMs: number): LimitState {
    return {
      limit,
      remaining: Math.max(0, Math.min((left ?? 0) + this.spare(unit), limit)),
      reset_ms: Math.min(MINUTE_MS, Math.max(0, Math.floor(this.#endsAtMs - nowMs))),
    };
  }
}
