import { afterEach, beforeEach, test } from 'vitest';
import {
  type NatsOptions,
  type NatsServer,
  type PostgresOptions,
  type PostgresServer,
  type RunningServer,
  type ScratchDirectory,
  scratchDirectory,
  startNats,
  startPostgres,
} from '../../../src/servers/index.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stderr.write('SKIPPED: tests of a start by root, as this user is not root.\n');

/** A test that only root can run. */
export const testAsRoot = test.skipIf(!isRoot);

/** Gives each test of a file a scratch directory, and stops what it started there. */
export const useServers = () => {
  const open: RunningServer[] = [];
  let scratch: ScratchDirectory;
  beforeEach(async () => {
    scratch = await scratchDirectory();
  });
  afterEach(async () => {
    for (const server of open.splice(0)) await server.stop();
    scratch.remove();
  });
  return {
    path: (name: string): string => `${scratch.path}/${name}`,
    postgres: async (options: Partial<PostgresOptions> = {}): Promise<PostgresServer> => {
      const dataDir = `${scratch.path}/postgres`;
      const own = { dataDir, user: 'svc', password: 'secret', flags: { fsync: 'off' }, ...options };
      const server = await startPostgres(own);
      open.push(server);
      return server;
    },
    nats: async (options: Partial<NatsOptions> = {}): Promise<NatsServer> => {
      const server = await startNats({ storeDir: `${scratch.path}/nats`, ...options });
      open.push(server);
      return server;
    },
  };
};
