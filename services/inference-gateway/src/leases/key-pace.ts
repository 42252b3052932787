import type { LeaseAsk } from '@svc/contracts';

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
export interface KeyPace {
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
