import type { DatabaseSession } from '@svc/database';
import type { Messaging } from '../connection/connect-messaging.ts';
import { publishBatch } from './publish-batch.ts';
import { verifyStream } from './verify-stream.ts';

const VERIFY_INTERVAL_MS = 15_000;
const FAILURE_DELAY_MS = 100;
const FAILURE_DELAY_MS_MAX = 5_000;

/** Sends the rows of one stream. Lanes fail alone: a full stream must not hold back revocations. */
export interface RelayLane {
  /** The stream may have changed: look at it before the next batch, without waiting out a failure. */
  distrust(): void;
  /** Sends one batch; answers whether more may wait. Throws only when the database session fails. */
  round(session: DatabaseSession): Promise<boolean>;
}

/** Makes the lane of one stream. */
export const createLane = (messaging: Messaging, stream: string): RelayLane => {
  let created = '';
  let verifiedUntil = 0;
  let failures = 0;
  let retryAt = 0;
  const noteFailure = (error: unknown) => {
    failures += 1;
    verifiedUntil = 0;
    const delayMs = Math.min(FAILURE_DELAY_MS * 2 ** Math.min(failures - 1, 10), FAILURE_DELAY_MS_MAX);
    retryAt = performance.now() + delayMs;
    const fields = { component: 'outbox_relay', stream, attempt: failures, delay_ms: delayMs, err: error };
    messaging.logger.warn(fields, 'the stream did not take the outbox; it will be tried again');
  };
  const attempt = async (session: DatabaseSession) => {
    if (performance.now() >= verifiedUntil) {
      created = await verifyStream(session, messaging, stream);
      verifiedUntil = performance.now() + VERIFY_INTERVAL_MS;
    }
    const result = await publishBatch(session, messaging, { name: stream, created });
    if (result.acknowledged.length > 0) messaging.meters.outboxPublished(stream, result.acknowledged.length);
    if (result.failure !== undefined) throw result.failure;
    failures = 0;
    // Whoever commits more rings the alarm: to look again before that would find nothing, at the price of a query a lane.
    return result.isFull;
  };
  return {
    distrust() {
      verifiedUntil = 0;
      retryAt = 0;
    },
    async round(session) {
      if (!messaging.isConnected() || performance.now() < retryAt) return false;
      try {
        return await attempt(session);
      } catch (error) {
        if (!session.isOpen()) throw error;
        noteFailure(error);
        return false;
      }
    },
  };
};
