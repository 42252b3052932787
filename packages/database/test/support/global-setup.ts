import { scratchDirectory, startPostgres } from '@svc/testing/servers';

/** One PostgreSQL for the run. `@svc/testing` has a fuller one, but that package builds on this one. */
export const setup = async (): Promise<() => Promise<void>> => {
  const scratch = await scratchDirectory();
  const server = await startPostgres({
    dataDir: `${scratch.path}/postgres`,
    user: 'svc_test',
    password: 'only-for-tests',
    flags: { fsync: 'off', log_statement: 'all', logging_collector: 'off' },
  });
  process.env['SVC_DATABASE_TEST_URL'] = server.url;
  return async () => {
    await server.stop();
    scratch.remove();
  };
};
