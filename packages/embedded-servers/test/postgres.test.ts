import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  DataDirectoryInUseError,
  freePort,
  PortTakenError,
  type PostgresServer,
  PostgresVersionError,
  type ScratchDirectory,
  ServerStartError,
  scratchDirectory,
  startPostgres,
} from '../src/index.ts';
import { allGone, isAlive, killSupervisor } from './support/killed-supervisor.ts';

let scratch: ScratchDirectory;
const open: PostgresServer[] = [];
beforeEach(async () => {
  scratch = await scratchDirectory();
});
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
  scratch.remove();
});

const start = async (options: { dataDir?: string; port?: number; password?: string } = {}): Promise<PostgresServer> => {
  const dataDir = options.dataDir ?? `${scratch.path}/postgres`;
  const server = await startPostgres({ user: 'svc', password: 'secret', flags: { fsync: 'off' }, ...options, dataDir });
  open.push(server);
  return server;
};

const query = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

test('the first start makes the cluster, the second finds its data', async () => {
  const first = await start();
  expect(first.created).toBe(true);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);
  const second = await start({ port: first.port });
  expect(second.created).toBe(false);
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

test('connections need the password, and text sorts the same on every machine', async () => {
  const server = await start();
  await expect(query(server.url.replace('secret', 'wrong'), 'SELECT 1')).rejects.toThrow(/password authentication/);
  expect(await query(server.url, `SELECT 'a' < 'B' AS by_alphabet`)).toEqual([{ by_alphabet: false }]);
  expect(await query(server.url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
});

test('its end is told, whatever ended it', async () => {
  const server = await start();
  await server.kill();
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
  const again = await start();
  expect(await query(again.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('a port that is taken is told by its number', async () => {
  const server = await start();
  const attempt = start({ dataDir: `${scratch.path}/other`, port: server.port });
  await expect(attempt).rejects.toThrow(PortTakenError);
  await expect(attempt).rejects.toMatchObject({ port: server.port });
  expect(existsSync(`${scratch.path}/other`)).toBe(false);
});

test('a directory of an older major version is told, and left as it is', async () => {
  const dataDir = `${scratch.path}/old`;
  mkdirSync(dataDir);
  writeFileSync(`${dataDir}/PG_VERSION`, '17\n');
  await expect(start({ dataDir })).rejects.toThrow(PostgresVersionError);
  await expect(start({ dataDir })).rejects.toMatchObject({ foundMajor: '17', wantedMajor: '18' });
  expect(readdirSync(dataDir)).toEqual(['PG_VERSION']);
});

test('a directory whose server is supervised by a living process is refused', async () => {
  await start();
  await expect(start()).rejects.toThrow(DataDirectoryInUseError);
});

test('a start that fails says why and leaves nothing running', async () => {
  const attempt = startPostgres({
    ...{ dataDir: `${scratch.path}/postgres`, user: 'svc', password: 'secret' },
    flags: { no_such_setting: '1' },
  });
  await expect(attempt).rejects.toThrow(ServerStartError);
  await expect(attempt).rejects.toThrow(/no_such_setting/);
  await start();
});

test('it ends when its supervisor is killed, and a new one starts on the same directory', async () => {
  const pids = await killSupervisor(scratch.path, { orphan: false });
  expect(await allGone([pids.postgres, pids.nats])).toBe(true);
  const server = await start();
  expect(server.created).toBe(false);
});

test('an orphan that outlived its supervisor is stopped by the next start', async () => {
  const pids = await killSupervisor(scratch.path, { orphan: true });
  expect(isAlive(pids.postgres)).toBe(true);
  await start();
  expect(isAlive(pids.postgres)).toBe(false);
  process.kill(pids.nats);
});

test('a pid file left by a power cut, whose pid now belongs to another program, is no obstacle', async () => {
  const server = await start();
  const pidFile = readFileSync(`${scratch.path}/postgres/postmaster.pid`, 'utf8');
  await server.stop();
  writeFileSync(`${scratch.path}/postgres/postmaster.pid`, pidFile.replace(/^\d+/, String(process.pid)));
  await start();
});

test('an interrupted initdb leaves nothing that looks like a cluster', async () => {
  mkdirSync(`${scratch.path}/postgres`);
  const server = await start();
  expect(server.created).toBe(true);
  await server.stop();
  expect(readdirSync(scratch.path).filter((name) => name.includes('.new-'))).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  'as root it runs as another user, also below a directory closed to that user',
  async () => {
    const closed = `${scratch.path}/closed`;
    mkdirSync(closed);
    chmodSync(closed, 0o700);
    const server = await start({ dataDir: `${closed}/postgres` });
    const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
    expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBeGreaterThan(0);
    expect(await query(server.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  },
);

test('ports asked for one after the other are free', async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  expect(ports.every((port) => port > 1023)).toBe(true);
});
