import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, isPortFree } from '@svc/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSecrets } from './secrets.ts';
import { choosePorts } from './settings.ts';
import { createStackFile } from './stack-context.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Finds a free port of the range that is no guard of a block. */
const freeBelowEphemeral = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    if (port % 100 !== 0 && (await isPortFree(port)) && (await isPortFree(port - (port % 100)))) return port;
  }
};

describe('ports', () => {
  const names = ['auth', 'auth-internal'];
  const claim = (file = 'ports.json', env: NodeJS.ProcessEnv = {}, of = names) =>
    choosePorts({ names: of, file: join(directory, file), env });
  const choose = async (env: NodeJS.ProcessEnv = {}, of = names) => {
    const { ports, release } = await claim('ports.json', env, of);
    release();
    return ports;
  };

  test('are free, below the ephemeral range, and the same at every start', async () => {
    const ports = await choose();
    expect([...ports.values()].every((port) => port >= 20_000 && port < 30_000)).toBe(true);
    expect(new Set(ports.values()).size).toBe(2);
    expect(await choose()).toEqual(ports);
  });

  test('are kept for parts that a start leaves out', async () => {
    const ports = await choose();
    await choose({}, ['auth']);
    expect(await choose()).toEqual(ports);
  });

  test('change if another program has taken one in the meantime', async () => {
    const ports = await choose();
    const taker = createServer();
    await new Promise<void>((done) => taker.listen(ports.get('auth'), '127.0.0.1', done));
    const now = await choose();
    expect(now.get('auth')).not.toBe(ports.get('auth'));
    expect(now.get('auth-internal')).toBe(ports.get('auth-internal'));
    await expect(choose({ AUTH_PORT: String(ports.get('auth')) })).rejects.toThrow(/AUTH_PORT.* is taken/);
    await new Promise((done) => taker.close(done));
    expect(await isPortFree(ports.get('auth') ?? 0)).toBe(true);
  });

  test('differ between stacks that start at one time, also if one returns to ports that another has claimed', async () => {
    const before = await choose();
    const claims = await Promise.all(Array.from({ length: 20 }, (_, index) => claim(`ports-${index}.json`)));
    writeFileSync(join(directory, 'ports-20.json'), JSON.stringify(Object.fromEntries(claims[0]?.ports ?? [])));
    claims.push(await claim('ports-20.json'));
    const all = claims.flatMap(({ ports }) => [...ports.values()]);
    expect(new Set(all).size).toBe(42);
    for (const { release } of claims) release();
    expect(await choose()).toEqual(before);
  });

  test('of an earlier start are kept if they are free', async () => {
    const scattered = { auth: await freeBelowEphemeral(), 'auth-internal': await freeBelowEphemeral() };
    writeFileSync(join(directory, 'ports.json'), JSON.stringify(scattered));
    expect(Object.fromEntries(await choose())).toEqual(scattered);
  });

  test('follow the person’s variables', async () => {
    const port = await freePort();
    expect((await choose({ AUTH_INTERNAL_PORT: String(port) })).get('auth-internal')).toBe(port);
    await expect(choose({ AUTH_PORT: 'http' })).rejects.toThrow('AUTH_PORT=http is not a port');
  });
});

describe('secrets', () => {
  const location = () => ({ file: join(directory, 'secrets.json'), cluster: join(directory, 'postgres') });

  test('are created once and readable by their owner only', () => {
    const first = loadSecrets(location());
    expect(Buffer.from(first.AUTH_ENCRYPTION_KEY, 'base64')).toHaveLength(32);
    expect(loadSecrets(location())).toEqual(first);
    expect(statSync(location().file).mode & 0o077).toBe(0);
  });

  test('gain the one that a later release needs', () => {
    writeFileSync(location().file, JSON.stringify({ POSTGRES_PASSWORD: 'kept' }));
    expect(loadSecrets(location()).POSTGRES_PASSWORD).toBe('kept');
    expect(JSON.parse(readFileSync(location().file, 'utf8'))).toHaveProperty('API_KEY_PEPPER');
  });

  test('are not created again beside a database that needs lost ones', () => {
    mkdirSync(location().cluster);
    expect(() => loadSecrets(location())).toThrow(/secrets\.json is missing/);
  });
});

describe('stack.json', () => {
  test('exists from publish to remove, and follows changes', () => {
    const path = join(directory, 'stack.json');
    writeFileSync(path, 'of an earlier run');
    const file = createStackFile(path, 'http://127.0.0.1:1');
    file.set('auth', { pid: 1, url: 'http://127.0.0.1:2' });
    expect(() => readFileSync(path)).toThrow('ENOENT');
    file.publish();
    file.set('auth', { pid: 2, url: 'http://127.0.0.1:2' });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
      base_url: 'http://127.0.0.1:1',
      processes: { auth: { pid: 2, url: 'http://127.0.0.1:2' } },
      database_urls: {},
      nats_url: '',
      nats_urls: {},
    });
    file.remove();
    file.set('auth', { pid: 3, url: '' });
    expect(() => readFileSync(path)).toThrow('ENOENT');
  });
});
