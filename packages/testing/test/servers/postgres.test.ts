import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DataDirectoryInUseError, freePort, PortTakenError, StartError } from '../../src/servers/index.ts';
import { allGone, isAlive, killSupervisor } from './support/killed-supervisor.ts';
import { query } from './support/query.ts';
import { useServers } from './support/servers.ts';

const servers = useServers();
const dataDir = (): string => servers.path('postgres');

test('creates the cluster at the first start and finds its data at the second', async () => {
  const first = await servers.postgres();
  expect(first.created).toBe(true);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await servers.postgres({ port: first.port });
  expect(second.created).toBe(false);
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

test('requires the password, and sorts text the same on every machine', async () => {
  const server = await servers.postgres();
  await expect(query(server.url.replace('secret', 'wrong'), 'SELECT 1')).rejects.toThrow(/password authentication/);
  expect(await query(server.url, `SELECT 'a' < 'B' AS by_alphabet`)).toEqual([{ by_alphabet: false }]);
  expect(await query(server.url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
});

test('reports its exit and recovers from a crash', async () => {
  const server = await servers.postgres();
  await server.kill();
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
  const again = await servers.postgres();
  expect(await query(again.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('names the port if it is taken, and creates no cluster', async () => {
  const server = await servers.postgres();
  const attempt = servers.postgres({ dataDir: servers.path('other'), port: server.port });
  await expect(attempt).rejects.toThrow(PortTakenError);
  await expect(attempt).rejects.toMatchObject({ port: server.port });
  expect(readdirSync(servers.path('')).some((name) => name.startsWith('other'))).toBe(false);
});

test('refuses a cluster of an older major version and leaves it unchanged', async () => {
  mkdirSync(dataDir());
  writeFileSync(`${dataDir()}/PG_VERSION`, '17\n');
  const attempt = servers.postgres();
  await expect(attempt).rejects.toThrow(StartError);
  await expect(attempt).rejects.toThrow('holds a PostgreSQL 17 database, but this release runs PostgreSQL 18');
  expect(readdirSync(dataDir())).toEqual(['PG_VERSION']);
});

test.each([
  ['without PG_VERSION', (path: string) => rmSync(`${path}/PG_VERSION`), 'is damaged'],
  ['with an empty PG_VERSION', (path: string) => truncateSync(`${path}/PG_VERSION`), 'is damaged'],
  ['with a cut control file', (path: string) => truncateSync(`${path}/global/pg_control`, 10), 'pg_control'],
])('refuses a cluster %s in one line, and deletes nothing', async (_case, damage, reason) => {
  const server = await servers.postgres();
  await server.stop();
  damage(dataDir());
  const before = readdirSync(dataDir());
  const attempt = servers.postgres();
  await expect(attempt).rejects.toThrow(StartError);
  await expect(attempt).rejects.toThrow(reason);
  await expect(attempt).rejects.toThrow(/^.+$/);
  expect(readdirSync(dataDir())).toEqual(expect.arrayContaining(before));
});

test('refuses a directory whose server has a live supervisor', async () => {
  await servers.postgres();
  await expect(servers.postgres()).rejects.toThrow(DataDirectoryInUseError);
});

test('gives the reason of a failed start in one line and leaves nothing running', async () => {
  const attempt = servers.postgres({ flags: { no_such_setting: '1' } });
  await expect(attempt).rejects.toThrow(StartError);
  await expect(attempt).rejects.toThrow(/^PostgreSQL ended with code 1: .*no_such_setting.*$/);
  await servers.postgres();
});

test('gives up when its signal aborts, and leaves nothing running', async () => {
  const reason = new Error('asked to stop');
  await expect(servers.postgres({ signal: AbortSignal.abort(reason) })).rejects.toThrow('asked to stop');
  expect(readdirSync(servers.path('')).filter((name) => name.includes('.new-'))).toEqual([]);
  await servers.postgres();
});

test('ends when its supervisor is killed, and starts again under a new one', async () => {
  const pids = await killSupervisor(servers.path(''), { orphan: false });
  expect(await allGone([pids.postgres, pids.nats])).toBe(true);
  const server = await servers.postgres();
  expect(server.created).toBe(false);
});

test('stops the orphan of a killed supervisor before it starts', async () => {
  const pids = await killSupervisor(servers.path(''), { orphan: true });
  expect(isAlive(pids.postgres)).toBe(true);
  await servers.postgres();
  expect(isAlive(pids.postgres)).toBe(false);
  process.kill(pids.nats);
});

test('starts although a power cut left a pid file whose pid now belongs to another program', async () => {
  const server = await servers.postgres();
  const pidFile = readFileSync(`${dataDir()}/postmaster.pid`, 'utf8');
  await server.stop();
  writeFileSync(`${dataDir()}/postmaster.pid`, pidFile.replace(/^\d+/, String(process.pid)));
  await servers.postgres();
});

test('creates the cluster in an empty directory and leaves no draft of it', async () => {
  mkdirSync(dataDir());
  const server = await servers.postgres();
  expect(server.created).toBe(true);
  await server.stop();
  expect(readdirSync(servers.path('')).filter((name) => name.includes('.new-'))).toEqual([]);
});

test('gives three concurrent calls three free ports', async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  expect(ports.every((port) => port > 1023)).toBe(true);
});
