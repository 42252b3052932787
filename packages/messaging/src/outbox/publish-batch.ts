import { REVOCATIONS_STREAM } from '@svc/contracts';
import type { DatabaseSession } from '@svc/database';
import { errorCodeOf } from '@svc/tracing';
import type { Messaging } from '../connection/connect-messaging.ts';
import { beginPublishing, traceHeaders } from '../connection/trace-messages.ts';
import { type AcknowledgedRow, listUnpublished, markPublished, type UnpublishedRow } from './queries.ts';

const BATCH = 200;
const ACK_TIMEOUT_MS = 5_000;
const encoder = new TextEncoder();

/** What one round sent, and the failure that stopped part of it. */
export interface BatchResult {
  /** There may be more where these came from. */
  readonly isFull: boolean;
  readonly acknowledged: readonly AcknowledgedRow[];
  readonly failure: unknown;
}

/**
 * Sends the first unpublished rows of one stream and marks those that were acknowledged. Aggregates go side by side, but
 * within one each waits for the acknowledgement of the one before: a message that was refused must not be overtaken.
 */
export const publishBatch = async (
  session: DatabaseSession,
  messaging: Messaging,
  stream: { readonly name: string; readonly created: string },
): Promise<BatchResult> => {
  const rows = await listUnpublished(session, stream.name, BATCH);
  const acknowledged: AcknowledgedRow[] = [];
  let failure: unknown;
  const chains = [...Map.groupBy(rows, (row) => row.aggregate).values()];
  await Promise.all(
    chains.map(async (chain) => {
      try {
        for (const row of chain) acknowledged.push(await publishRow(messaging, stream.name, row));
      } catch (error) {
        failure ??= error;
      }
    }),
  );
  if (acknowledged.length > 0) await markPublished(session, stream, acknowledged);
  return { isFull: rows.length === BATCH, acknowledged, failure };
};

const publishRow = async (messaging: Messaging, stream: string, row: UnpublishedRow): Promise<AcknowledgedRow> => {
  const body = stream === REVOCATIONS_STREAM ? row.payload : envelope(row);
  const span = row.traceparent === null ? undefined : beginPublishing(row, row.traceparent);
  const headers = traceHeaders(span?.traceparent ?? row.traceparent);
  const options = { msgID: row.id, timeout: ACK_TIMEOUT_MS, expect: { streamName: stream }, ...headers };
  try {
    const sent = messaging.jetstream.publish(row.subject, encoder.encode(body), options);
    const ack = await messaging.untilDisconnect(sent);
    span?.end();
    return { seq: row.seq, id: row.id, streamSeq: ack.seq };
  } catch (error) {
    span?.end(errorCodeOf(error));
    throw error;
  }
};

/** The contract's envelope around the payload, which is already JSON text. */
const envelope = (row: UnpublishedRow): string => {
  const { id, subject, aggregate, version } = row;
  const head = JSON.stringify({ id, subject, aggregate, version, occurred_at: row.occurred_at.toISOString() });
  return `${head.slice(0, -1)},"data":${row.payload}}`;
};
