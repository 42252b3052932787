import type { Tone } from '../ui/index.ts';
import type { WebhookEventRecord } from './webhook-operations.ts';

export const ATTEMPTS_MAX = 8;

/** Counts the attempts since the event was stored, or retried by its owner. Only an event with all its attempts is retried. */
export const attemptsOfRound = ({ attempts, status }: Pick<WebhookEventRecord, 'attempts' | 'status'>): number => {
  const isUnderWay = status === 'queued' || status === 'delivering';
  return attempts > 0 && attempts % ATTEMPTS_MAX === 0 && !isUnderWay ? ATTEMPTS_MAX : attempts % ATTEMPTS_MAX;
};

type Event = Pick<WebhookEventRecord, 'attempts' | 'next_attempt_at' | 'sequence' | 'status'>;

const isPending = ({ status }: Event): boolean => status === 'failed' || status === 'queued' || status === 'delivering';

/** Returns the earliest event that later ones wait for, as far as it is among those listed. */
export const headOf = <E extends Event>(events: readonly E[]): E | undefined =>
  events.filter(isPending).toSorted((a, b) => a.sequence - b.sequence)[0];

/** Returns true for an event whose turn comes after an earlier one. */
export const isWaiting = ({ status, next_attempt_at }: Event): boolean =>
  status === 'queued' && next_attempt_at === null;

/** Returns true for an event that the receiver has refused, and that has attempts left. */
export const isFailing = (event: Event): boolean =>
  (event.status === 'queued' || event.status === 'delivering') && attemptsOfRound(event) > 0;

/** Returns the tone of an event's state. */
export const toneOfEvent = (event: Event): Tone => {
  if (isFailing(event)) return 'warn';
  switch (event.status) {
    case 'delivered':
      return 'good';
    case 'failed':
      return 'bad';
    case 'skipped':
      return 'warn';
    case 'queued':
    case 'delivering':
    case 'cancelled':
      return 'neutral';
  }
};
