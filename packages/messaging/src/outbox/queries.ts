import { type DatabaseSession, recordColumns } from '@svc/database';

/** Any constant. Replicas share a database, so it elects one relay per service. */
const RELAY_LOCK = 7_348_101_668;
const BACKLOG_COUNTED_MAX = 100_000;
/** Takes milliseconds, in which the session cannot publish. */
const PRUNE_BATCH = 2_000;
const REPUBLISH_BATCH = 2_000;

/** A row to publish, with its payload as text. */
export interface UnpublishedRow {
  readonly seq: number;
  readonly id: string;
  readonly aggregate: string;
  readonly version: number;
  readonly epoch: string;
  readonly subject: string;
  readonly payload: string;
  readonly occurred_at: Date;
  readonly traceparent: string | null;
}

export interface AcknowledgedRow {
  readonly seq: number;
  readonly id: string;
  readonly streamSeq: number;
}

export interface StreamRecord {
  readonly stream: string;
  readonly created: string;
  readonly last_stream_seq: number;
  readonly last_event_id: string;
}

/** Tries to take the lock of the relay, which the session then holds until it ends. */
export const tryRelayLock = async (session: DatabaseSession): Promise<boolean> => {
  const [row] = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [RELAY_LOCK]);
  return row?.locked === true;
};

/**
 * Makes the session's commits not wait for the disk. A crash of PostgreSQL may take back the last marks, in the order of their
 * commits. Those facts are then sent again, and deduplicated by the broker or the inbox.
 */
export const commitWithoutWaiting = async (session: DatabaseSession): Promise<void> => {
  await session.query('SET synchronous_commit = off');
};

const LIST_UNPUBLISHED = {
  name: 'list_unpublished',
  text: `SELECT seq, id, aggregate, version, epoch, subject, payload::text AS payload, occurred_at, traceparent
    FROM outbox WHERE published_at IS NULL AND stream = $1 ORDER BY seq LIMIT $2`,
};

/** Returns the first rows that the stream has not acknowledged. */
export const listUnpublished = async (session: DatabaseSession, stream: string, limit: number) =>
  await session.run<UnpublishedRow>(LIST_UNPUBLISHED, [stream, limit]);

const markColumns = recordColumns<Pick<AcknowledgedRow, 'seq' | 'streamSeq'>>({
  seq: 'seq bigint',
  streamSeq: 'stream_seq bigint',
});
const MARK_PUBLISHED = {
  name: 'mark_published',
  text: `WITH marked AS (
      UPDATE outbox o SET published_at = now(), stream_seq = a.stream_seq
      FROM ${markColumns.unnest('a')}
      WHERE o.seq = a.seq AND o.published_at IS NULL
    )
    INSERT INTO outbox_streams AS s (stream, created, last_stream_seq, last_event_id) VALUES ($3, $4, $5, $6)
    ON CONFLICT (stream) DO UPDATE
    SET last_stream_seq = excluded.last_stream_seq, last_event_id = excluded.last_event_id
    WHERE s.created = excluded.created AND s.last_stream_seq < excluded.last_stream_seq`,
};

/** Marks rows as published and records the newest of them as the stream's last acknowledgement. */
export const markPublished = async (
  session: DatabaseSession,
  stream: { readonly name: string; readonly created: string },
  rows: readonly AcknowledgedRow[],
): Promise<void> => {
  const newest = rows.reduce((a, b) => (b.streamSeq > a.streamSeq ? b : a));
  const place = [stream.name, stream.created, newest.streamSeq, newest.id];
  await session.run(MARK_PUBLISHED, [...markColumns.arrays(rows), ...place]);
};

export const findStreamRecord = async (session: DatabaseSession, stream: string): Promise<StreamRecord | undefined> => {
  const [row] = await session.query<StreamRecord>('SELECT * FROM outbox_streams WHERE stream = $1', [stream]);
  return row;
};

/** Deletes the recorded state of a stream; its next acknowledgement records a new one. */
export const deleteStreamRecord = async (session: DatabaseSession, stream: string): Promise<void> => {
  await session.query('DELETE FROM outbox_streams WHERE stream = $1', [stream]);
};

/**
 * Marks rows that the stream acknowledged after `afterStreamSeq` as unpublished, oldest first and in batches, except those older
 * than `ageSecondsMax`. Returns their number.
 */
export const unpublishAfter = async (
  session: DatabaseSession,
  stream: string,
  { afterStreamSeq, ageSecondsMax }: { afterStreamSeq: number; ageSecondsMax: number },
): Promise<number> => {
  let count = 0;
  for (let afterSeq = 0; ; ) {
    const rows = await session.query<{ seq: number }>(
      `UPDATE outbox SET published_at = NULL, stream_seq = NULL WHERE seq IN (
         SELECT seq FROM outbox
         WHERE stream = $1 AND published_at IS NOT NULL AND stream_seq > $2 AND seq > $3
           AND occurred_at > now() - make_interval(secs => $4)
         ORDER BY seq LIMIT ${REPUBLISH_BATCH}
       ) RETURNING seq`,
      [stream, afterStreamSeq, afterSeq, ageSecondsMax],
    );
    if (rows.length === 0) return count;
    count += rows.length;
    afterSeq = Math.max(...rows.map(({ seq }) => seq));
  }
};

/** Counts unpublished rows up to a bound, and measures the age of the oldest. */
export const measureBacklog = async (
  session: DatabaseSession,
): Promise<{ count: number; oldestAgeSeconds: number }> => {
  const [row] = await session.query<{ count: number; oldest: number | null }>(
    `SELECT count(*) AS count, extract(epoch FROM now() - min(occurred_at))::float8 AS oldest
     FROM (SELECT occurred_at FROM outbox WHERE published_at IS NULL LIMIT ${BACKLOG_COUNTED_MAX}) waiting`,
  );
  return { count: row?.count ?? 0, oldestAgeSeconds: Math.max(0, row?.oldest ?? 0) };
};

/** Counts the epochs that began in the last 24 hours after a restore. */
export const countRecentEpochs = async (session: DatabaseSession): Promise<number> => {
  const [row] = await session.query<{ count: number }>(
    `SELECT count(*) AS count FROM epochs WHERE restored_to IS NOT NULL AND began_at > now() - interval '24 hours'`,
  );
  return row?.count ?? 0;
};

/** Deletes one batch of rows published longer ago than this, among the oldest rows, and returns their number. */
export const deleteSentBefore = async (session: DatabaseSession, ageSeconds: number): Promise<number> => {
  const rows = await session.query(
    `DELETE FROM outbox WHERE seq IN (
       SELECT seq FROM (SELECT seq, published_at FROM outbox ORDER BY seq LIMIT ${PRUNE_BATCH}) oldest
       WHERE published_at < now() - make_interval(secs => $1)
     ) RETURNING 1`,
    [ageSeconds],
  );
  return rows.length;
};
