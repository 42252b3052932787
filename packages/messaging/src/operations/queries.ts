import type { Knex } from 'knex';

export interface OutboxStream {
  readonly stream: string;
  readonly unpublished: number;
  readonly oldestSeconds: number;
  /** Null before the first acknowledgement. */
  readonly created: string | null;
  readonly lastStreamSeq: number | null;
}

/** Returns the streams with published or waiting rows. Counts waiting rows up to a bound. */
export const listOutboxStreams = async (database: Knex, countedMax: number): Promise<OutboxStream[]> => {
  const { rows } = await database.raw<{ rows: OutboxStream[] }>(
    `WITH waiting AS (
       SELECT stream, count(*)::int AS unpublished, extract(epoch FROM now() - min(occurred_at))::float8 AS seconds
       FROM (SELECT stream, occurred_at FROM outbox WHERE published_at IS NULL LIMIT ?) AS rows GROUP BY stream
     )
     SELECT stream, coalesce(unpublished, 0) AS unpublished, greatest(coalesce(seconds, 0), 0) AS "oldestSeconds",
       created, last_stream_seq AS "lastStreamSeq"
     FROM outbox_streams FULL JOIN waiting USING (stream) ORDER BY stream`,
    [countedMax],
  );
  return rows;
};
