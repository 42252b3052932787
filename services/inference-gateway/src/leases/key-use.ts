import type { LeaseAnswer, LeaseAsk } from '@svc/contracts';

type MinuteUnit = 'requests' | 'tokens';

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

  /** Returns the minute after billing's response: this one, or the one that has begun since. */
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

interface Amounts {
  readonly micros: number;
  readonly tokens: number;
}

/** Time for which an amount ahead of need lasts. Billing may be silent for most of it. */
const AHEAD_SECONDS = 5;
/** Shorter windows say little about a rate. */
const WINDOW_MS_MIN = 100;
const UNITS = ['micros', 'tokens'] as const;

/** Rate at which a key spends, measured in windows from one ask to the next. */
interface KeyPace {
  readonly noteStart: (held: Amounts, nowMs: number) => void;
  readonly noteEnd: (ended: { readonly held: Amounts; readonly used: Amounts }) => void;
  /** Time of the last start. */
  readonly lastStartMs: () => number;
  /** Ends the window if it is long enough, and returns the amounts that the key will need soon; none at first. */
  readonly needsSoon: (nowMs: number) => LeaseAsk['wanted'];
}

/** Creates the measure of a key's pace. A rate rises at once and falls by half with each window. */
export const createKeyPace = (): KeyPace => {
  const rates = { micros: 0, requests: 0, tokens: 0 };
  const used = { micros: 0, requests: 0, tokens: 0 };
  const held = { micros: 0, tokens: 0 };
  /** Most that was held at once, and by one request. */
  const peak = { micros: 0, tokens: 0 };
  const largest = { micros: 0, tokens: 0 };
  let lastStartMs = Number.NEGATIVE_INFINITY;
  let windowStartMs: number | undefined;
  let soon: LeaseAsk['wanted'] = { micros: 0, requests: 0, tokens: 0 };
  const endWindow = (windowMs: number): void => {
    for (const unit of ['micros', 'requests', 'tokens'] as const) {
      rates[unit] = Math.max(rates[unit] / 2, (used[unit] * 1_000) / windowMs);
      used[unit] = 0;
    }
    const ahead = (unit: 'micros' | 'tokens'): number =>
      Math.ceil(rates[unit] * AHEAD_SECONDS + Math.max(0, peak[unit] - held[unit]) + largest[unit]);
    soon = {
      micros: ahead('micros'),
      requests: Math.ceil(rates.requests * AHEAD_SECONDS) + 1,
      tokens: ahead('tokens'),
    };
    for (const unit of UNITS) {
      peak[unit] = Math.max(held[unit], peak[unit] / 2);
      largest[unit] /= 2;
    }
  };
  return {
    noteStart: (amounts, nowMs) => {
      windowStartMs ??= nowMs;
      lastStartMs = nowMs;
      used.requests += 1;
      for (const unit of UNITS) {
        held[unit] += amounts[unit];
        peak[unit] = Math.max(peak[unit], held[unit]);
        largest[unit] = Math.max(largest[unit], amounts[unit]);
      }
    },
    noteEnd: (ended) => {
      for (const unit of UNITS) {
        held[unit] -= ended.held[unit];
        used[unit] += ended.used[unit];
      }
    },
    lastStartMs: () => lastStartMs,
    needsSoon: (nowMs) => {
      const windowMs = windowStartMs === undefined ? 0 : nowMs - windowStartMs;
      if (windowMs < WINDOW_MS_MIN) return soon;
      windowStartMs = nowMs;
      endWindow(windowMs);
      return soon;
    },
  };
};
