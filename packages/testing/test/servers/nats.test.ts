import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import {
  DataDirectoryInUseError,
  locateNatsServer,
  PortTakenError,
  StartError,
  scratchDirectory,
} from '../../src/servers/index.ts';
import { isAlive, killSupervisor } from './support/killed-supervisor.ts';
import { useServers } from './support/servers.ts';

const servers = useServers();

test('JetStream syncs to disk before it acknowledges', async () => {
  let output = '';
  const server = await servers.nats({
    onOutput: (text) => {
      output += text;
    },
  });
  expect(readFileSync(servers.path('nats.conf'), 'utf8')).toMatch(/sync_interval: always/);
  expect(existsSync(servers.path('nats/jetstream'))).toBe(true);
  expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);
  expect(output).toMatch(/Server is ready/);
});

test('stops, restarts on the same port, and reports its exit', async () => {
  const first = await servers.nats();
  await first.stop();
  expect((await first.exited).signal ?? (await first.exited).code).not.toBe('SIGKILL');
  const second = await servers.nats({ port: first.port });
  await second.kill();
  expect(await second.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

test('names the fault when the port is taken, the directory is in use or the program is missing', async () => {
  const server = await servers.nats();
  const storeDir = servers.path('other');
  await expect(servers.nats({ port: server.port, storeDir })).rejects.toThrow(PortTakenError);
  await expect(servers.nats()).rejects.toThrow(DataDirectoryInUseError);
  const missing = servers.nats({ binary: '/no/such/nats-server', storeDir });
  await expect(missing).rejects.toThrow(StartError);
  await expect(missing).rejects.toThrow('/no/such/nats-server cannot be executed');
  expect(locateNatsServer()).toMatch(/nats-server$/);
});

test('stops the orphan of a killed supervisor before it starts', async () => {
  const pids = await killSupervisor(servers.path(''), { orphan: true });
  process.kill(pids.postgres, 'SIGINT');
  expect(isAlive(pids.nats)).toBe(true);
  await servers.nats();
  expect(isAlive(pids.nats)).toBe(false);
});

test('removes the scratch directories of killed processes and keeps those of live ones', async () => {
  const left = `${tmpdir()}/svc-scratch-999999999-1-abcdef`;
  mkdirSync(left);
  const other = await scratchDirectory();
  expect(existsSync(left)).toBe(false);
  expect(existsSync(servers.path(''))).toBe(true);
  other.remove();
});
