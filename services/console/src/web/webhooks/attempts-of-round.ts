import type { WebhookEventRecord } from './use-webhook-events.ts';

export const ATTEMPTS_MAX = 8;

/** Counts the attempts since the event was stored, or retried by its owner. Only an event with all its attempts is retried. */
export const attemptsOfRound = ({ attempts, status }: Pick<WebhookEventRecord, 'attempts' | 'status'>): number => {
  const isUnderWay = status === 'queued' || status === 'delivering';
  return attempts > 0 && attempts % ATTEMPTS_MAX === 0 && !isUnderWay ? ATTEMPTS_MAX : attempts % ATTEMPTS_MAX;
};
