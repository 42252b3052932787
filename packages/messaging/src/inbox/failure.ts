import { isConnectionFailure } from '@svc/database';

/** What a failure means for the message. */
export interface Failure {
  /** Worth another delivery. */
  readonly retriable: boolean;
  /** Our own database cannot be reached: nothing can be handled now. */
  readonly databaseDown: boolean;
  /** A stable code for the dead letter and the log; never the error's text, which may quote content. */
  readonly code: string;
}

const RETRIABLE_KINDS = new Set(['limit', 'unavailable', 'internal']);
const BACKOFF_MS = [250, 1_000, 5_000, 15_000, 30_000, 60_000, 120_000, 300_000];
const JITTER = 0.2;

/** Sorts an error by its `kind`; one without a kind is a fault of ours, and worth another try. */
export const classifyFailure = (error: unknown): Failure => {
  const kind = textField(error, 'kind') ?? 'internal';
  const databaseDown = isConnectionFailure(error);
  const code = textField(error, 'code') ?? (error instanceof Error ? error.name : kind);
  return { retriable: databaseDown || RETRIABLE_KINDS.has(kind), databaseDown, code: code.slice(0, 100) };
};

/** How long after the n-th delivery the next one comes. */
export const retryDelayMs = (deliveries: number, random: () => number = Math.random): number => {
  const base = BACKOFF_MS[Math.min(deliveries, BACKOFF_MS.length) - 1] ?? 0;
  return Math.round(base * (1 + JITTER * (random() * 2 - 1)));
};

/** Deliveries over which a missing version is looked for in quick succession: mostly another replica has it in hand. */
export const GAP_QUICK_DELIVERIES = 20;
const GAP_QUICK_MS = 50;
const GAP_QUICK_MS_MAX = 400;

/**
 * How long after the n-th delivery a message that waits for an earlier version comes again. After the quick ones it
 * follows the schedule of failures, so that it outlasts whatever the missing one goes through.
 */
export const gapDelayMs = (deliveries: number, random: () => number = Math.random): number => {
  if (deliveries <= GAP_QUICK_DELIVERIES) {
    return Math.min(GAP_QUICK_MS * 2 ** (deliveries - 1), GAP_QUICK_MS_MAX);
  }
  return retryDelayMs(deliveries - GAP_QUICK_DELIVERIES, random);
};

const textField = (error: unknown, field: string): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' && value !== '' ? value : undefined;
};
