import {
  type PostgresServer,
  type ScratchDirectory,
  scratchDirectory,
  startPostgres,
  startStandby,
} from '@svc/testing/servers';
import type { Knex } from 'knex';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, isConnectionFailure, openSession } from '../src/index.ts';

const OWNER = { user: 'svc_test', password: 'only-for-tests' };
const WRITERS = 8;
/** Acknowledged writes before the failover, and after it. */
const WRITES = 200;
const PATIENCE_MS = 20_000;

let scratch: ScratchDirectory;
let primary: PostgresServer;
let standby: PostgresServer;
beforeAll(async () => {
  scratch = await scratchDirectory();
  primary = await startPostgres({ ...OWNER, dataDir: `${scratch.path}/primary`, flags: { fsync: 'off' } });
  const session = await openSession(primary.url);
  await session.query('CREATE TABLE write (id bigint PRIMARY KEY)');
  standby = await startStandby({
    ...OWNER,
    dataDir: `${scratch.path}/standby`,
    flags: { fsync: 'off' },
    primary: { url: primary.url, dataDir: `${scratch.path}/primary` },
    query: (sql) => session.query<object>(sql),
  });
  await session.close();
});
afterAll(async () => {
  await Promise.all([primary.kill(), standby.kill()]);
  scratch.remove();
});

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition was not met in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const hostOf = ({ url }: PostgresServer): string => new URL(url).host;

/** Starts writers that insert one row after the other, and go on after a failure. */
const startWriters = (database: Knex) => {
  const acknowledged: number[] = [];
  const failures: unknown[] = [];
  let next = 0;
  let lastAt = performance.now();
  let longestMs = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    while (!isOver) {
      next += 1;
      const id = next;
      try {
        await database('write').insert({ id });
        acknowledged.push(id);
        longestMs = Math.max(longestMs, performance.now() - lastAt);
        lastAt = performance.now();
      } catch (error) {
        failures.push(error);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  const running = Promise.all(Array.from({ length: WRITERS }, write));
  return {
    acknowledged,
    failures,
    longestMs: () => longestMs,
    async stop() {
      isOver = true;
      await running;
    },
  };
};

describe('a connection string with several hosts', () => {
  let database: Knex;
  let url: string;
  beforeAll(() => {
    // The standby stands first, so the order alone would be wrong.
    url = primary.url.replace(hostOf(primary), `${hostOf(standby)},${hostOf(primary)}`);
    url = `${url}?target_session_attrs=read-write`;
    database = createDatabase(url, { poolMax: WRITERS });
  });
  afterAll(() => database.destroy());

  test('leads to the server that takes writes, through a failover, without losing an acknowledged write', async () => {
    const writers = startWriters(database);
    await until(async () => writers.acknowledged.length > WRITES);
    await primary.kill();
    await until(async () => writers.failures.length > 0);
    const diedAt = performance.now();
    const promoting = createDatabase(standby.url, { poolMax: 1 });
    await promoting.raw('SELECT pg_promote()');
    const promotedAt = performance.now();
    const before = writers.acknowledged.length;
    await until(async () => writers.acknowledged.length > before);
    await until(async () => writers.acknowledged.length > before + WRITES);
    await writers.stop();
    process.stdout.write(
      `failover: no write for ${Math.round(writers.longestMs())} ms, of which ${Math.round(promotedAt - diedAt)} ms until the standby was promoted\n`,
    );
    expect(writers.failures.filter((failure) => !isConnectionFailure(failure))).toEqual([]);
    const kept = new Set<number>((await promoting('write').select('id')).map(({ id }) => id));
    await promoting.destroy();
    expect(writers.acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    const session = await openSession(url);
    expect(await session.query('SELECT pg_is_in_recovery() AS standby')).toEqual([{ standby: false }]);
    await session.close();
  });

  test('fails as unavailable while no server takes writes, and works again without a restart', async () => {
    const admin = createDatabase(standby.url, { poolMax: 1 });
    await admin.raw('ALTER SYSTEM SET default_transaction_read_only = on');
    await admin.raw('SELECT pg_reload_conf()');
    await until(async () => {
      const failure = await database('write')
        .insert({ id: -1 })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      return isConnectionFailure(failure);
    });
    await admin.raw('ALTER SYSTEM RESET default_transaction_read_only');
    await admin.raw('SELECT pg_reload_conf()');
    await admin.destroy();
    await until(async () =>
      database('write')
        .insert({ id: -2 })
        .then(
          () => true,
          () => false,
        ),
    );
  });
});

test('a connection string that wants a server without writes is refused', () => {
  expect(() => createDatabase('postgres://one:1,two:2/name?target_session_attrs=standby')).toThrow(RangeError);
});
