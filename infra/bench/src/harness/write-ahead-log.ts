import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSession } from '@svc/database';
import { baseBackup, type PostgresOptions, type PostgresServer, startRecovered } from '@svc/testing/servers';
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

/** Means to restore a lost server. */
export interface Archive {
  /** Copies the running server. */
  readonly backUp: () => Promise<void>;
  /** Kills the server, and starts another on its port from the backup and the WAL up to a moment. */
  readonly restoreTo: (moment: Date) => Promise<void>;
}

const folderOf = (scratch: string): string => join(scratch, 'archive');

/** Settings of a server that archives its WAL. */
export const archiveFlags = (scratch: string): Record<string, string> => {
  const folder = folderOf(scratch);
  mkdirSync(folder);
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o777);
  return { archive_mode: 'on', archive_command: `cp %p ${folder}/%f` };
};

/** Opens the archive of a server that runs with `archiveFlags`. */
export const openArchive = (
  scratch: string,
  options: PostgresOptions,
  server: { kill: () => Promise<void>; start: (otherwise: () => Promise<PostgresServer>) => Promise<void> },
  url: string,
): Archive => {
  const backup = join(scratch, 'backup');
  const inSession = async (sql: string): Promise<object[]> => {
    const session = await openSession(url);
    try {
      return await session.query<object>(sql);
    } finally {
      await session.close();
    }
  };
  return {
    backUp: async () => {
      const session = await openSession(url);
      try {
        await baseBackup({ from: options.dataDir, to: backup, query: (sql) => session.query<object>(sql) });
      } finally {
        await session.close();
      }
    },
    restoreTo: async (to) => {
      await inSession('SELECT pg_switch_wal()');
      await archived(inSession);
      await server.kill();
      const dataDir = `${options.dataDir}-restored`;
      const recovery = {
        backup,
        archive: folderOf(scratch),
        to,
        query: (_server: PostgresServer, sql: string) => inSession(sql),
      };
      await server.start(() => startRecovered({ ...options, ...recovery, dataDir }));
    },
  };
};

/** Waits until the archive has all WAL before the current segment. */
const archived = async (query: (sql: string) => Promise<object[]>): Promise<void> => {
  const isDone = `SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) AS it FROM pg_stat_archiver`;
  const endsAt = performance.now() + 60_000;
  while (Reflect.get((await query(isDone))[0] ?? {}, 'it') !== true) {
    if (performance.now() > endsAt) throw new Error('WAL is not archived');
  }
};
