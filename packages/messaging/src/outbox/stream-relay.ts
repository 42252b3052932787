import { durables, REVOCATION_TTL_SECONDS, REVOCATIONS_STREAM } from '@svc/contracts';
import type { DatabaseSession } from '@svc/database';
import { endSpan, errorCodeOf, traceparentOf } from '@svc/service-kit';
import { isNotFound } from '../broker/index.ts';
import type { Messaging } from '../connection/connect-messaging.ts';
import { BrokerNotMigrated, findStream } from '../connection/connect-messaging.ts';
import { beginPublishing, traceHeaders } from '../connection/trace-messages.ts';
import {
  type AcknowledgedRow,
  deleteStreamRecord,
  findStreamRecord,
  listUnpublished,
  markPublished,
  type StreamRecord,
  type UnpublishedRow,
  unpublishAfter,
} from './queries.ts';

const SENT_KEPT_SECONDS = 7 * 24 * 3600;

/**
 * Compares a stream with its last recorded acknowledgement and returns its creation time. If the stream was recreated or cut
 * short, marks the lost facts that the outbox still has as unpublished. Throws BrokerNotMigrated if the stream or one of
 * its durable consumers is missing.
 */
const verifyStream = async (session: DatabaseSession, messaging: Messaging, name: string): Promise<string> => {
  const info = await messaging.untilDisconnect(findStream(messaging.manager, name));
  if (info === undefined) throw new BrokerNotMigrated(`there is no stream ${name}`);
  const consumersMin = durables.filter(({ stream }) => stream === name).length;
  if (info.state.consumer_count < consumersMin) throw new BrokerNotMigrated(`${name} lacks a durable consumer`);
  const created = String(info.created);
  const record = await findStreamRecord(session, name);
  if (record === undefined) return created;
  const found = { created, lastSeq: info.state.last_seq };
  const intactThrough = await messaging.untilDisconnect(findIntactEnd(messaging, record, found));
  if (intactThrough === undefined) return created;
  const ageSecondsMax = name === REVOCATIONS_STREAM ? REVOCATION_TTL_SECONDS : SENT_KEPT_SECONDS;
  const count = await unpublishAfter(session, name, { afterStreamSeq: intactThrough, ageSecondsMax });
  await deleteStreamRecord(session, name);
  messaging.meters.outboxRepublished(name, count);
  messaging.logger.warn({ stream: name, count }, 'the stream lost acknowledged messages; publishing them again');
  return created;
};

/** Returns the last sequence number before the loss, or undefined if the stream has all acknowledged messages. */
const findIntactEnd = async (
  messaging: Messaging,
  record: StreamRecord,
  found: { readonly created: string; readonly lastSeq: number },
): Promise<number | undefined> => {
  if (found.created !== record.created) return 0;
  if (found.lastSeq < record.last_stream_seq) return found.lastSeq;
  const id = await findMessageId(messaging, record.stream, record.last_stream_seq);
  // A handled message is gone. Another message with this number: the stream was reset to an unknown point and has grown
  // since.
  return id === undefined || id === record.last_event_id ? undefined : 0;
};

/** Returns the event id of a stored message, which age or a newer entry may have removed. */
const findMessageId = async (messaging: Messaging, stream: string, seq: number): Promise<string | undefined> => {
  try {
    const message = await messaging.manager.streams.getMessage(stream, { seq });
    // A fact that was published again on request has its earlier sequence number behind its id.
    return message?.header.get('Nats-Msg-Id').split('.')[0];
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};

/** Publishes the outbox rows of one stream. Streams fail alone: a full one does not hold back revocations. */
export interface StreamRelay {
  /** Verifies the stream before the next batch, without waiting out a failure. */
  readonly invalidate: () => void;
  /** Publishes one batch; returns true if more rows may wait. Throws only if the database session fails. */
  readonly publishBatch: (session: DatabaseSession) => Promise<boolean>;
}

const BATCH = 200;
const ACK_TIMEOUT_MS = 5_000;
const VERIFY_INTERVAL_MS = 15_000;
const FAILURE_DELAY_MS = 100;
const FAILURE_DELAY_MS_MAX = 5_000;
const encoder = new TextEncoder();

/** Returns what JetStream answered, such as "maximum bytes exceeded". Its client hides that behind a status. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const answer: unknown = Reflect.get(error, 'chainedError');
  return answer instanceof Error ? answer.message : error.message;
};

export const createStreamRelay = (messaging: Messaging, name: string): StreamRelay => {
  let created = '';
  let verifiedUntilMs = 0;
  let failures = 0;
  let retryAtMs = 0;
  const backOff = (error: unknown) => {
    failures += 1;
    verifiedUntilMs = 0;
    const delayMs = Math.min(FAILURE_DELAY_MS * 2 ** Math.min(failures - 1, 10), FAILURE_DELAY_MS_MAX);
    retryAtMs = performance.now() + delayMs;
    const fields = { component: 'outbox_relay', stream: name, attempt: failures, delay_ms: delayMs };
    messaging.logger.warn(
      { ...fields, reason: reasonOf(error), err: error },
      'the stream refused outbox rows; retrying',
    );
  };
  const attempt = async (session: DatabaseSession): Promise<boolean> => {
    if (performance.now() >= verifiedUntilMs) {
      created = await verifyStream(session, messaging, name);
      verifiedUntilMs = performance.now() + VERIFY_INTERVAL_MS;
    }
    const rows = await listUnpublished(session, name, BATCH);
    const { acknowledged, failure } = await publishRows(messaging, name, rows);
    if (acknowledged.length > 0) {
      await markPublished(session, { name, created }, acknowledged);
      messaging.meters.outboxPublished(name, acknowledged.length);
    }
    if (failure !== undefined) throw failure;
    failures = 0;
    // Later commits wake the relay, so a batch that is not full needs no second look.
    return rows.length === BATCH;
  };
  return {
    invalidate() {
      verifiedUntilMs = 0;
      retryAtMs = 0;
    },
    async publishBatch(session) {
      if (!messaging.isConnected() || performance.now() < retryAtMs) return false;
      try {
        return await attempt(session);
      } catch (error) {
        if (!session.isOpen()) throw error;
        backOff(error);
        return false;
      }
    },
  };
};

/**
 * Publishes aggregates in parallel. Within an aggregate each row waits for the acknowledgement of the one before, so that
 * none overtakes a row that the stream refused.
 */
const publishRows = async (messaging: Messaging, stream: string, rows: readonly UnpublishedRow[]) => {
  const acknowledged: AcknowledgedRow[] = [];
  let failure: unknown;
  const chains = [...Map.groupBy(rows, (row) => row.aggregate).values()];
  await Promise.all(
    chains.map(async (chain) => {
      try {
        for (const row of chain) acknowledged.push(await publishRow(messaging, stream, row));
      } catch (error) {
        failure ??= error;
      }
    }),
  );
  return { acknowledged, failure };
};

const publishRow = async (messaging: Messaging, stream: string, row: UnpublishedRow): Promise<AcknowledgedRow> => {
  const body = stream === REVOCATIONS_STREAM ? row.payload : envelope(row);
  const span = row.traceparent === null ? undefined : beginPublishing(row, row.traceparent);
  const headers = traceHeaders(traceparentOf(span) ?? row.traceparent);
  const options = { msgID: row.id, timeout: ACK_TIMEOUT_MS, expect: { streamName: stream }, ...headers };
  try {
    const sent = messaging.jetstream.publish(row.subject, encoder.encode(body), options);
    const ack = await messaging.untilDisconnect(sent);
    span?.end();
    return { seq: row.seq, id: row.id, streamSeq: ack.seq };
  } catch (error) {
    endSpan(span, errorCodeOf(error));
    throw error;
  }
};

/** Wraps the payload, which is JSON text already, in the contract's envelope. */
const envelope = (row: UnpublishedRow): string => {
  const { id, subject, aggregate, version, epoch } = row;
  const head = JSON.stringify({ id, subject, aggregate, version, epoch, occurred_at: row.occurred_at.toISOString() });
  return `${head.slice(0, -1)},"data":${row.payload}}`;
};
