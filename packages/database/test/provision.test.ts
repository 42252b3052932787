import { expect, test } from 'vitest';
import { createDatabase, provision } from '../src/index.ts';
import { adminUrl } from './support/empty-database.ts';

const query = async (url: string, sql: string) => {
  const database = createDatabase(url, { poolMax: 1 });
  try {
    return (await database.raw(sql)).rows;
  } finally {
    await database.destroy();
  }
};

const atDatabase = (url: string, name: string): string => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

test('lets a service into its own database and no other', async () => {
  const gateway = await provision({ adminUrl: adminUrl(), service: 'inference-gateway', password: 'p@ss/one' });
  const billing = await provision({ adminUrl: adminUrl(), service: 'billing', password: 'two' });
  expect(new URL(gateway).pathname).toBe('/svc_inference_gateway');
  await query(gateway, 'CREATE TABLE mine (id int)');
  for (const other of ['svc_inference_gateway', 'postgres', 'template1']) {
    await expect(query(atDatabase(billing, other), 'SELECT 1')).rejects.toThrow(/permission denied for database/);
  }
  await expect(query(billing, 'CREATE ROLE intruder')).rejects.toThrow(/permission denied/);
  await expect(query(billing, 'CREATE DATABASE more')).rejects.toThrow(/permission denied/);
});

test('keeps the data and sets the password when it runs again', async () => {
  const first = await provision({ adminUrl: adminUrl(), service: 'auth', password: 'old' });
  await query(first, 'CREATE TABLE kept AS SELECT 1 AS n');
  const second = await provision({ adminUrl: adminUrl(), service: 'auth', password: 'new' });
  expect(await query(second, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  await expect(query(first, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
});

test('returns the same database to parallel calls for one service', async () => {
  const calls = [1, 2, 3].map(() =>
    provision({ adminUrl: adminUrl(), service: 'webhook-dispatcher', password: 'same' }),
  );
  const [url] = await Promise.all(calls);
  expect(await query(url ?? '', 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('refuses an unsafe service name or password', async () => {
  await expect(provision({ adminUrl: adminUrl(), service: 'x"; DROP', password: 'p' })).rejects.toThrow(RangeError);
  await expect(provision({ adminUrl: adminUrl(), service: 'auth', password: 'pässword' })).rejects.toThrow(RangeError);
});

test('waits for another run that takes longer than any request may', async () => {
  const other = createDatabase(adminUrl(), { poolMax: 1, statementTimeoutMs: 60_000 });
  await other.raw('SELECT pg_advisory_lock(7348101666)');
  const call = provision({ adminUrl: adminUrl(), service: 'slow', password: 'p' });
  const waitedLong = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'svc-provision' AND wait_event = 'advisory'
    AND now() - query_start > interval '6 s'`;
  await expect.poll(async () => (await other.raw(waitedLong)).rows, { timeout: 20_000, interval: 100 }).toHaveLength(1);
  await other.destroy();
  expect(await query(await call, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('leaves the statement and its password verifier out of its errors', async () => {
  const url = await provision({ adminUrl: adminUrl(), service: 'weak', password: 'p' });
  const attempt = provision({ adminUrl: url, service: 'weak', password: 'next' });
  await expect(attempt).rejects.toThrow(/permission denied|must be/);
  await expect(attempt).rejects.not.toThrow(/SCRAM|ALTER/);
});

test('a second role that enters as the first replaces its password without an outage', async () => {
  const first = await provision({ adminUrl: adminUrl(), service: 'rotating', password: 'old' });
  await query(first, 'CREATE TABLE kept AS SELECT 1 AS n');
  await query(adminUrl(), "CREATE ROLE svc_rotating_2 LOGIN PASSWORD 'new' IN ROLE svc_rotating");
  await query(adminUrl(), 'ALTER ROLE svc_rotating_2 SET role = svc_rotating');
  const second = new URL(first);
  second.username = 'svc_rotating_2';
  second.password = 'new';
  expect(await query(first, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  await query(second.href, 'CREATE TABLE made AS SELECT 2 AS n');
  await query(adminUrl(), 'ALTER ROLE svc_rotating NOLOGIN');
  expect(await query(second.href, "SELECT tableowner FROM pg_tables WHERE schemaname = 'public'")).toEqual([
    { tableowner: 'svc_rotating' },
    { tableowner: 'svc_rotating' },
  ]);
  await query(adminUrl(), 'DROP ROLE svc_rotating_2');
});
