import type { DatabaseSession } from '@svc/database';

/** All replicas of a service share its database, so one constant lock is one relay per service. */
const RELAY_LOCK = 7_348_101_668;
const BACKLOG_COUNTED_MAX = 100_000;
const PRUNE_BATCH = 500;
const REPUBLISH_BATCH = 2_000;

/** A row to send; `payload` is still text. */
export interface UnpublishedRow {
  readonly seq: number;
  readonly id: string;
  readonly aggregate: string;
  readonly version: number;
  readonly subject: string;
  readonly payload: string;
  readonly occurred_at: Date;
  /** The trace in which it came to be. */
  readonly traceparent: string | null;
}

/** A row that the stream has acknowledged under this sequence number. */
export interface AcknowledgedRow {
  readonly seq: number;
  readonly id: string;
  readonly streamSeq: number;
}

/** What is known of a stream from its last acknowledgement. */
export interface StreamRecord {
  readonly stream: string;
  readonly created: string;
  readonly last_stream_seq: number;
  readonly last_event_id: string;
}

/** Takes the lock that one relay per service holds, for as long as the session lives. */
export const tryRelayLock = async (session: DatabaseSession): Promise<boolean> => {
  const [row] = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [RELAY_LOCK]);
  return row?.locked === true;
};

/**
 * The session's own commits do not wait for the disk. What a crash of the server takes back is only that something was sent,
 * or was to be sent again, and in the order of its commits: it is then done once more, and the broker or the inbox knows it.
 */
export const commitWithoutWaiting = async (session: DatabaseSession): Promise<void> => {
  await session.query('SET synchronous_commit = off');
};

const LIST_UNPUBLISHED = {
  name: 'list_unpublished',
  text: `SELECT seq, id, aggregate, version, subject, payload::text AS payload, occurred_at, traceparent
    FROM outbox WHERE published_at IS NULL AND stream = $1 ORDER BY seq LIMIT $2`,
};

/** The first rows that a stream has not acknowledged. */
export const listUnpublished = async (session: DatabaseSession, stream: string, limit: number) => {
  return await session.run<UnpublishedRow>(LIST_UNPUBLISHED, [stream, limit]);
};

const MARK_PUBLISHED = {
  name: 'mark_published',
  text: `WITH marked AS (
      UPDATE outbox o SET published_at = now(), stream_seq = a.stream_seq
      FROM unnest($1::bigint[], $2::bigint[]) AS a (seq, stream_seq)
      WHERE o.seq = a.seq AND o.published_at IS NULL
    )
    INSERT INTO outbox_streams AS s (stream, created, last_stream_seq, last_event_id) VALUES ($3, $4, $5, $6)
    ON CONFLICT (stream) DO UPDATE
    SET last_stream_seq = excluded.last_stream_seq, last_event_id = excluded.last_event_id
    WHERE s.created = excluded.created AND s.last_stream_seq < excluded.last_stream_seq`,
};

/** Marks rows as published and notes the newest of them as what the stream is known to have. */
export const markPublished = async (
  session: DatabaseSession,
  stream: { readonly name: string; readonly created: string },
  rows: readonly AcknowledgedRow[],
): Promise<void> => {
  const newest = rows.reduce((a, b) => (b.streamSeq > a.streamSeq ? b : a));
  await session.run(MARK_PUBLISHED, [
    rows.map((row) => row.seq),
    rows.map((row) => row.streamSeq),
    ...[stream.name, stream.created, newest.streamSeq, newest.id],
  ]);
};

/** What is known of a stream, once anything was acknowledged by it. */
export const findStreamRecord = async (session: DatabaseSession, stream: string): Promise<StreamRecord | undefined> => {
  const [row] = await session.query<StreamRecord>('SELECT * FROM outbox_streams WHERE stream = $1', [stream]);
  return row;
};

/** Forgets what is known of a stream; its next acknowledgement is the new knowledge. */
export const deleteStreamRecord = async (session: DatabaseSession, stream: string): Promise<void> => {
  await session.query('DELETE FROM outbox_streams WHERE stream = $1', [stream]);
};

/**
 * Turns rows that the stream acknowledged after `afterStreamSeq` back to unpublished, oldest first and in batches.
 * What is older than `ageSecondsMax` stays as it is. Answers how many.
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

/** How much waits, counted no further than a bound, and how long the oldest has. */
export const measureBacklog = async (
  session: DatabaseSession,
): Promise<{ count: number; oldestAgeSeconds: number }> => {
  const [row] = await session.query<{ count: number; oldest: number | null }>(
    `SELECT count(*) AS count, extract(epoch FROM now() - min(occurred_at))::float8 AS oldest
     FROM (SELECT occurred_at FROM outbox WHERE published_at IS NULL LIMIT ${BACKLOG_COUNTED_MAX}) waiting`,
  );
  return { count: row?.count ?? 0, oldestAgeSeconds: Math.max(0, row?.oldest ?? 0) };
};

/** Deletes one small batch of rows sent longer ago than this; only the oldest rows are looked at. Answers how many. */
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
