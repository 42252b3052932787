import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSession } from '@svc/database';
import { baseBackup, type PostgresOptions, type PostgresServer, startRecovered } from '@svc/embedded-servers';
import type { Archive } from './stack.ts';

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
