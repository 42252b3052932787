import { errorCodeOf } from '@svc/tracing';
import type { Messaging } from '../connection/connect-messaging.ts';
import { REVOCATIONS_STREAM } from '../connection/event-types.ts';
import { beginPublishing, traceHeaders } from '../connection/trace-messages.ts';
import type { AcknowledgedRow, UnpublishedRow } from './queries.ts';

const ACK_TIMEOUT_MS = 5_000;
const encoder = new TextEncoder();

/** What the stream took, and the failure that stopped part of it. */
export interface BatchResult {
  readonly acknowledged: readonly AcknowledgedRow[];
  readonly failure: unknown;
}

/**
 * Sends rows of one stream. Aggregates go side by side, but within one each waits for the acknowledgement of the one before: a
 * message that was refused must not be overtaken. Never rejects.
 */
export async function publishBatch(
  messaging: Messaging,
  stream: string,
  rows: readonly UnpublishedRow[],
): Promise<BatchResult> {
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
}

async function publishRow(messaging: Messaging, stream: string, row: UnpublishedRow): Promise<AcknowledgedRow> {
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
}

/** The contract's envelope around the payload, which is already JSON text. */
function envelope(row: UnpublishedRow): string {
  const { id, subject, aggregate, version } = row;
  const head = JSON.stringify({ id, subject, aggregate, version, occurred_at: row.occurred_at.toISOString() });
  return `${head.slice(0, -1)},"data":${row.payload}}`;
}
