import { cpSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { giveTo } from './base-backup.ts';
import { type PostgresOptions, type PostgresServer, startPostgres } from './start-postgres.ts';

const RECOVERED_WITHIN_MS = 120_000;
const POLL_MS = 50;

export interface RecoveryOptions extends PostgresOptions {
  /** Folder of a base backup, which stays as it is. */
  readonly backup: string;
  /** Folder of archived WAL. */
  readonly archive: string;
  readonly to: Date;
  readonly query: (server: PostgresServer, sql: string) => Promise<readonly object[]>;
}

/** Restores a base backup to a moment (point-in-time recovery), and waits until the server takes writes. */
export const startRecovered = async (options: RecoveryOptions): Promise<PostgresServer> => {
  const { backup, archive, to, query, ...own } = options;
  mkdirSync(own.dataDir, { mode: 0o700 });
  cpSync(backup, own.dataDir, { recursive: true });
  writeFileSync(join(own.dataDir, 'recovery.signal'), '');
  giveTo(own.dataDir, statSync(backup));
  const recovery = {
    restore_command: `cp ${archive}/%f %p`,
    // Abbreviations of time zones, which a final Z is, are not accepted here.
    recovery_target_time: to.toISOString().replace('Z', '+00'),
    recovery_target_action: 'promote',
    // The archive belongs to the lost server.
    archive_mode: 'off',
  };
  const server = await startPostgres({ ...own, flags: { ...own.flags, ...recovery } });
  const endsAt = performance.now() + RECOVERED_WITHIN_MS;
  while (Reflect.get((await query(server, 'SELECT pg_is_in_recovery() AS it'))[0] ?? {}, 'it') !== false) {
    if (performance.now() > endsAt) throw new Error(`the server does not recover: ${server.lastOutput()}`);
    await sleep(POLL_MS);
  }
  return server;
};
