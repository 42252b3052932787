import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  DataDirectoryInUseError,
  locateNatsServer,
  type NatsServer,
  PortTakenError,
  type ScratchDirectory,
  ServerStartError,
  scratchDirectory,
  startNats,
} from '../src/index.ts';
import { isAlive, killSupervisor } from './support/killed-supervisor.ts';

let scratch: ScratchDirectory;
const open: NatsServer[] = [];
beforeEach(async () => {
  scratch = await scratchDirectory();
});
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
  scratch.remove();
});

const start = async (options: { port?: number; binary?: string; name?: string } = {}): Promise<NatsServer> => {
  const server = await startNats({ storeDir: `${scratch.path}/${options.name ?? 'nats'}`, ...options });
  open.push(server);
  return server;
};

test('JetStream writes to disk before it acknowledges', async () => {
  const lines: string[] = [];
  const server = await startNats({ storeDir: `${scratch.path}/nats`, onLog: (line) => lines.push(line) });
  open.push(server);
  expect(readFileSync(`${scratch.path}/nats.conf`, 'utf8')).toMatch(/sync_interval: always/);
  expect(existsSync(`${scratch.path}/nats/jetstream`)).toBe(true);
  expect(server.url).toBe(`nats://127.0.0.1:${server.port}`);
  expect(lines.join('\n')).toMatch(/Server is ready/);
});

test('it stops, starts again on the same port and tells how it ended', async () => {
  const first = await start();
  await first.stop();
  expect((await first.exited).signal ?? (await first.exited).code).not.toBe('SIGKILL');
  const second = await start({ port: first.port });
  await second.kill();
  expect(await second.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a taken port, a directory in use and a missing program are told apart', async () => {
  const server = await start();
  await expect(start({ port: server.port, name: 'other' })).rejects.toThrow(PortTakenError);
  await expect(start()).rejects.toThrow(DataDirectoryInUseError);
  await expect(start({ binary: '/no/such/nats-server', name: 'other' })).rejects.toThrow(ServerStartError);
  expect(locateNatsServer()).toMatch(/nats-server$/);
});

test('an orphan that outlived its supervisor is stopped by the next start', async () => {
  const pids = await killSupervisor(scratch.path, { orphan: true });
  process.kill(pids.postgres, 'SIGINT');
  expect(isAlive(pids.nats)).toBe(true);
  await start();
  expect(isAlive(pids.nats)).toBe(false);
});

test('directories of killed processes are swept, those of living ones are not', async () => {
  const left = `${tmpdir()}/svc-scratch-999999999-1-abcdef`;
  mkdirSync(left);
  const other = await scratchDirectory();
  expect(existsSync(left)).toBe(false);
  expect(existsSync(scratch.path)).toBe(true);
  other.remove();
});
