import pg from 'pg';

/** 640 MB: more than a measurement writes before the first checkpoint. */
const SEGMENTS = 40;

/** Keeps the segments of `useWal` through checkpoints. */
export const USED_WAL_FLAGS = { min_wal_size: '1GB', max_wal_size: '4GB' };

/**
 * Gives a new cluster recycled segments of write-ahead log, as a cluster has after some time. Otherwise the cluster
 * creates each segment on first use: 16 MB of zeros that are synced to disk while every commit waits, which distorts
 * the figures of the first minutes (PostgreSQL 18, section 28.5).
 */
export const useWal = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let made = 0; made < SEGMENTS; made += 1) {
      // A segment without a record is not recycled.
      await client.query("SELECT pg_logical_emit_message(false, 'bench', 'used')");
      await client.query('SELECT pg_switch_wal()');
    }
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
};
