import pg from 'pg';

/** 640 MB: more than a measurement writes before the first checkpoint. */
const SEGMENTS = 40;

/** Keeps what `useWal` has made through checkpoints. */
export const USED_WAL_FLAGS = { min_wal_size: '1GB', max_wal_size: '4GB' };

/**
 * Gives a new cluster the write-ahead log of one that has run for a while: segments that a checkpoint has left to be written again.
 * A new cluster makes each one when it is first needed, 16 MB of zeros that are synced to disk while every commit waits, which is
 * no measure of anything that runs for longer than some minutes (PostgreSQL 18, section 28.5).
 */
export const useWal = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (let made = 0; made < SEGMENTS; made += 1) {
      // A segment without a record is not left.
      await client.query("SELECT pg_logical_emit_message(false, 'bench', 'used')");
      await client.query('SELECT pg_switch_wal()');
    }
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
};
