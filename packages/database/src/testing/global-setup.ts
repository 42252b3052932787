import { randomBytes } from 'node:crypto';
import { scratchDirectory, startPostgres } from '@svc/testing/servers';
import { dropDatabasesOfRun, sweepOldRuns } from './test-run.ts';

/**
 * Vitest global set-up. Uses the server of TEST_DATABASE_URL (as superuser), or else starts an embedded PostgreSQL
 * without durability for this run. Workers find it in the environment.
 */
export const setup = async (): Promise<() => Promise<void>> => {
  const run = `${Math.floor(Date.now() / 1000).toString(36)}${randomBytes(3).toString('hex')}`;
  process.env['SVC_TEST_RUN'] = run;
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') {
    await sweepOldRuns(given);
    return () => dropDatabasesOfRun(given, run);
  }
  const scratch = await scratchDirectory();
  const server = await startPostgres({
    dataDir: `${scratch.path}/postgres`,
    user: 'svc_test',
    password: randomBytes(12).toString('hex'),
    flags: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      max_connections: '300',
      shared_buffers: '64MB',
    },
  });
  process.env['TEST_DATABASE_URL'] = server.url;
  return async () => {
    delete process.env['TEST_DATABASE_URL'];
    await server.stop();
    scratch.remove();
  };
};
