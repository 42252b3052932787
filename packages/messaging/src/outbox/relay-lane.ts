import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseSession } from '@svc/database';
import type { Messaging } from '../connection/connect-messaging.ts';
import { publishBatch } from './publish-batch.ts';
import { listUnpublished, markPublished, type UnpublishedRow } from './queries.ts';
import { verifyStream } from './verify-stream.ts';

/** Both together bound what is held in memory. */
const BATCH = 50;
const BATCHES_MAX = 4;
/**
 * A batch that takes longer is not waited for: the broker writes one message after the other to its disk, and what is committed
 * meanwhile would wait for all of them, the more of it the longer that takes.
 */
const OVERLAP_MS = 4;
const VERIFY_INTERVAL_MS = 15_000;
const FAILURE_DELAY_MS = 100;
const FAILURE_DELAY_MS_MAX = 5_000;

/** Sends the rows of one stream. Lanes fail alone: a full stream must not hold back revocations. */
export interface RelayLane {
  /** The stream may have changed: look at it before the next batch, without waiting out a failure. */
  distrust(): void;
  /** Sends one batch; answers whether more may wait. Throws only when the database session fails. */
  round(session: DatabaseSession): Promise<boolean>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

/** Makes the lane of one stream. `onPassed` is called when what was passed over, as its aggregate was under way, can be sent. */
export function createLane(messaging: Messaging, stream: string, onPassed: () => void): RelayLane {
  let created = '';
  let verifiedUntil = 0;
  let failures = 0;
  let retryAt = 0;
  /** Batches that have not come to their end, each with its aggregates. */
  const underWay = new Map<Promise<void>, ReadonlySet<string>>();
  let hasPassed = false;
  const settled = async () => {
    while (underWay.size > 0) await Promise.all(underWay.keys());
  };
  const noteFailure = (error: unknown) => {
    failures += 1;
    verifiedUntil = 0;
    const delayMs = Math.min(FAILURE_DELAY_MS * 2 ** Math.min(failures - 1, 10), FAILURE_DELAY_MS_MAX);
    retryAt = performance.now() + delayMs;
    const fields = { component: 'outbox_relay', stream, attempt: failures, delay_ms: delayMs, err: error };
    messaging.logger.warn(fields, 'the stream did not take the outbox; it will be tried again');
  };
  /** Never rejects. */
  const send = async (session: DatabaseSession, rows: readonly UnpublishedRow[]) => {
    const { acknowledged, failure } = await publishBatch(messaging, stream, rows);
    try {
      if (acknowledged.length > 0) {
        messaging.meters.outboxPublished(stream, acknowledged.length);
        await markPublished(session, { name: stream, created }, acknowledged);
      }
      if (failure !== undefined) throw failure;
      failures = 0;
    } catch (error) {
      // Without its session nothing is tried again: another one begins anew.
      if (session.isOpen()) noteFailure(error);
    }
  };
  const begin = (session: DatabaseSession, rows: readonly UnpublishedRow[]) => {
    const batch = send(session, rows).finally(() => {
      underWay.delete(batch);
      if (hasPassed) onPassed();
      hasPassed = false;
    });
    underWay.set(batch, new Set(rows.map(({ aggregate }) => aggregate)));
    return batch;
  };
  const attempt = async (session: DatabaseSession) => {
    if (performance.now() >= verifiedUntil) {
      // What it acknowledges while it is looked at would count as lost, or not, by chance.
      await settled();
      created = await verifyStream(session, messaging, stream);
      verifiedUntil = performance.now() + VERIFY_INTERVAL_MS;
    }
    if (underWay.size === BATCHES_MAX) await Promise.race(underWay.keys());
    const aggregates = [...underWay.values()].flatMap((set) => [...set]);
    hasPassed ||= aggregates.length > 0;
    const rows = await listUnpublished(session, stream, { limit: BATCH, underWay: aggregates });
    if (rows.length === 0) return false;
    await Promise.race([begin(session, rows), sleep(OVERLAP_MS)]);
    // Whoever commits more rings the alarm: to look again before that would find nothing, at the price of a query a lane.
    return rows.length === BATCH;
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
    settled,
  };
}
