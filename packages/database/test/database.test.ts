import { connect, createServer, type Socket } from 'node:net';
import type { Knex } from 'knex';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createDatabase,
  isConnectionFailure,
  isDeadlock,
  isForeignKeyViolation,
  isLockTimeout,
  isSerializationFailure,
  isStatementTimeout,
  isUniqueViolation,
  openSession,
  retryTransaction,
} from '../src/index.ts';
import { emptyDatabase } from './support/empty-database.ts';

let url: string;
let database: Knex;

beforeAll(async () => {
  url = await emptyDatabase();
  database = createDatabase(url, { poolMax: 4, lockTimeoutMs: 2_000 });
  await database.raw(`
    CREATE TABLE counter (id int PRIMARY KEY, n bigint NOT NULL);
    CREATE TABLE child (id int REFERENCES counter (id) DEFERRABLE);
    INSERT INTO counter VALUES (1, 0), (2, 0);
  `);
});
afterAll(() => database.destroy());

const failureOf = async (work: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
};

test('reads int8 as a number up to 2^53 - 1, and throws beyond', async () => {
  const { rows } = await database.raw('SELECT 9007199254740991::int8 AS n, ARRAY[1, NULL, -2]::int8[] AS list');
  expect(rows).toEqual([{ n: 9_007_199_254_740_991, list: [1, null, -2] }]);
  await expect(database.raw('SELECT 9007199254740992::int8')).rejects.toThrow(RangeError);
  expect((await database.raw('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
});

test('reads timestamptz as a Date, date and numeric as text', async () => {
  const { rows } = await database.raw(
    `SELECT '2026-10-01T12:00:00+02'::timestamptz AS t, '2026-10-01'::date AS d, 0.1::numeric AS x`,
  );
  expect(rows).toEqual([{ t: new Date('2026-10-01T10:00:00Z'), d: '2026-10-01', x: '0.1' }]);
});

test('counts days in UTC, also on a server in a time zone with summer time', async () => {
  const { rows: names } = await database.raw('SELECT current_database() AS name');
  await database.raw("ALTER DATABASE ?? SET TimeZone = 'Europe/Rome'", [names[0].name]);
  const local = createDatabase(url, { poolMax: 1 });
  try {
    const { rows } = await local.raw(
      "SELECT '2027-03-27T12:00:00Z'::timestamptz + make_interval(days => 1) AS next, date_trunc('day', '2026-11-30T23:30:00Z'::timestamptz) AS day",
    );
    expect(rows).toEqual([{ next: new Date('2027-03-28T12:00:00Z'), day: new Date('2026-11-30T00:00:00Z') }]);
  } finally {
    await local.destroy();
  }
});

test('distinguishes unique and foreign key violations, also by constraint', async () => {
  const duplicate = await failureOf(database('counter').insert({ id: 1, n: 0 }));
  expect(isUniqueViolation(duplicate)).toBe(true);
  expect(isUniqueViolation(duplicate, 'counter_pkey')).toBe(true);
  expect(isUniqueViolation(duplicate, 'other')).toBe(false);
  const orphan = await failureOf(database('child').insert({ id: 99 }));
  expect(isForeignKeyViolation(orphan, 'child_id_fkey')).toBe(true);
  expect(isUniqueViolation(orphan)).toBe(false);
});

test('reports connections in use, their maximum, and waiting callers at each scrape', async () => {
  const reads = new Map<string, () => number>();
  const metrics = { gauge: ({ name, read }: { name: string; read: () => number }) => reads.set(name, read) };
  const small = createDatabase(url, { poolMax: 2, metrics });
  const scrape = () => [...reads].map(([name, read]) => [name, read()]);
  const both = await Promise.all([small.transaction(), small.transaction()]);
  const waiting = [small.raw('SELECT 1'), small.raw('SELECT 1'), small.raw('SELECT 1')].map((each) => each.then());
  expect(scrape()).toEqual([
    ['database_pool_used', 2],
    ['database_pool_max', 2],
    ['database_pool_waiting', 3],
  ]);
  await Promise.all(both.map((trx) => trx.rollback()));
  await Promise.all(waiting);
  expect(scrape()).toContainEqual(['database_pool_waiting', 0]);
  await small.destroy();
  expect(scrape()).toContainEqual(['database_pool_used', 0]);
});

test('ends a statement, a lock wait and a wait for a connection in time', async () => {
  const hasty = createDatabase(url, { poolMax: 1, statementTimeoutMs: 100, acquireTimeoutMs: 200 });
  expect(isStatementTimeout(await failureOf(hasty.raw('SELECT pg_sleep(5)')))).toBe(true);
  await hasty.transaction(async (trx) => {
    await trx.raw('SELECT 1');
    expect(isConnectionFailure(await failureOf(hasty.raw('SELECT 1')))).toBe(true);
  });
  await hasty.destroy();
  await database.transaction(async (trx) => {
    await trx('counter').where({ id: 1 }).forUpdate();
    const locked = await failureOf(
      database.transaction(async (other) => {
        await other.raw('SET LOCAL lock_timeout = 50');
        await other('counter').where({ id: 1 }).forUpdate();
      }),
    );
    expect(isLockTimeout(locked)).toBe(true);
  });
});

test('reports a connection failure if the server refuses, hangs or ends the session', async () => {
  const refused = createDatabase('postgres://x:y@127.0.0.1:1/z');
  expect(isConnectionFailure(await failureOf(refused.raw('SELECT 1')))).toBe(true);
  await refused.destroy();
  const sockets: Socket[] = [];
  const hanging = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
  const address = hanging.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const hung = createDatabase(`postgres://x:y@127.0.0.1:${port}/z`, { acquireTimeoutMs: 300 });
  expect(isConnectionFailure(await failureOf(hung.raw('SELECT 1')))).toBe(true);
  for (const socket of sockets) socket.destroy();
  await hung.destroy();
  hanging.close();
  const killed = await failureOf(
    database.transaction(async (trx) => {
      const { rows } = await trx.raw('SELECT pg_backend_pid() AS pid');
      await database.raw('SELECT pg_terminate_backend(?)', [rows[0].pid]);
      await trx.raw('SELECT 1');
    }),
  );
  expect(isConnectionFailure(killed)).toBe(true);
  expect((await database.raw('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
});

/** A proxy to the server that can fall silent. */
const openProxy = async () => {
  const server = new URL(url);
  const links: Socket[] = [];
  const proxy = createServer((near) => {
    const far = connect(Number(server.port), server.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      links.push(from.on('error', () => undefined));
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const proxied = new URL(url);
  proxied.port = String(typeof address === 'object' ? address?.port : 0);
  return {
    url: proxied.href,
    silence: () => {
      for (const link of links) link.unpipe().pause();
    },
    /** Falls silent after the next answer, which loses its end: `ReadyForQuery` (PostgreSQL documentation, 54.7). */
    cutNextAnswer: () => {
      const [near, far] = links.slice(-2);
      far?.unpipe();
      far?.resume().once('data', (answer) => {
        const end = answer.lastIndexOf('Z\0\0\0\x05');
        near?.write(end === -1 ? answer : answer.subarray(0, end));
        far.pause();
      });
    },
    close: () => {
      for (const link of links) link.destroy();
      proxy.close();
    },
  };
};

test('fails the query in time if the server falls silent, and does not use its connection again', async () => {
  const proxy = await openProxy();
  const silent = createDatabase(proxy.url, { poolMax: 1, statementTimeoutMs: 100 });
  await silent.raw('SELECT 1');
  proxy.silence();
  expect(isConnectionFailure(await failureOf(silent.raw('SELECT 1')))).toBe(true);
  expect((await silent.raw('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  proxy.close();
  await silent.destroy();
});

test('replaces a connection if the server falls silent after an error', async () => {
  const proxy = await openProxy();
  const silent = createDatabase(proxy.url, { poolMax: 1, statementTimeoutMs: 100 });
  await silent.raw('SELECT 1');
  proxy.cutNextAnswer();
  expect(isConnectionFailure(await failureOf(silent.raw('SELECT no_such_column')))).toBe(false);
  expect(isConnectionFailure(await failureOf(silent.raw('SELECT 1')))).toBe(true);
  expect((await silent.raw('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  proxy.close();
  await silent.destroy();
});

test('closes a session if the server falls silent, and fails the queries that wait behind the first', async () => {
  const proxy = await openProxy();
  const session = await openSession(proxy.url, { statementTimeoutMs: 100 });
  expect(await session.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
  proxy.silence();
  const first = session.query('SELECT 1');
  const second = session.run({ name: 'two', text: 'SELECT 2' }, []);
  expect(isConnectionFailure(await failureOf(first))).toBe(true);
  expect(isConnectionFailure(await failureOf(second))).toBe(true);
  await expect.poll(() => session.isOpen()).toBe(false);
  proxy.close();
  await session.close();
});

test('rolls a transaction back if its work throws', async () => {
  await expect(
    database.transaction(async (trx) => {
      await trx('counter').insert({ id: 50, n: 1 });
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await database('counter').where({ id: 50 })).toEqual([]);
});

test('retries serialization failures until every increment counts', async () => {
  const increment = () =>
    retryTransaction(
      database,
      async (trx) => {
        const row = await trx('counter').where({ id: 1 }).first('n');
        await trx('counter')
          .where({ id: 1 })
          .update({ n: row.n + 1 });
      },
      { isolation: 'serializable', attemptsMax: 20 },
    );
  await Promise.all(Array.from({ length: 8 }, increment));
  expect((await database('counter').where({ id: 1 }).first('n')).n).toBe(8);
});

test('retries deadlocks a bounded number of times, and no other errors', async () => {
  const touch = (first: number, second: number) =>
    retryTransaction(database, async (trx) => {
      await trx('counter').where({ id: first }).increment('n', 1);
      await trx.raw('SELECT pg_sleep(0.2)');
      await trx('counter').where({ id: second }).increment('n', 1);
    });
  await Promise.all([touch(1, 2), touch(2, 1)]);
  let attempts = 0;
  const failing = (code: string) =>
    retryTransaction(
      database,
      async (trx) => {
        attempts += 1;
        await trx.raw(`DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '${code}'; END $$`);
      },
      { attemptsMax: 3, random: () => 0 },
    );
  expect(isSerializationFailure(await failureOf(failing('40001')))).toBe(true);
  expect(attempts).toBe(3);
  expect(isDeadlock(await failureOf(failing('40P01')))).toBe(true);
  attempts = 0;
  await failureOf(failing('23505'));
  expect(attempts).toBe(1);
});
