import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createDatabase } from '@svc/database';
import { connectToBroker, jetStreamOptions } from '@svc/messaging/broker';
import { freePort } from '@svc/testing/servers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, makeDataDirectory, type RunningStack, startStack, until, untilReady } from './running-stack.ts';

const NAMES = [
  ...['auth', 'billing', 'inference-gateway', 'webhook-dispatcher'],
  ...['console', 'ingress', 'nats', 'postgres', 'sandbox-mail', 'sandbox-payments', 'sandbox-provider'],
];

const data = makeDataDirectory();
let stack: RunningStack;
let baseUrl: string;
let statusOfDocs: number;

const sql = async (url: string, statement: string): Promise<unknown> => {
  const database = createDatabase(url, { poolMax: 1 });
  try {
    return (await database.raw(statement)).rows;
  } finally {
    await database.destroy();
  }
};

const waitForPorts = async (dataDirectory: string): Promise<Record<string, number>> => {
  const file = join(dataDirectory, 'ports.json');
  await until(() => existsSync(file));
  return JSON.parse(readFileSync(file, 'utf8'));
};

const answersThroughIngress = async (): Promise<boolean> => {
  const response = await fetch(`${baseUrl}/v1/subscriptions/plans`).catch(() => undefined);
  return response?.status === 200;
};

beforeAll(async () => {
  stack = startStack(data.path);
  baseUrl = await untilReady(stack);
  statusOfDocs = (await fetch(`${baseUrl}/docs`)).status;
});
afterAll(async () => {
  stack.child.kill('SIGTERM');
  await stack.exited;
  data.remove();
});

describe('a stack that is ready', () => {
  test('prints the ready line, the duration and the next steps', () => {
    expect(stack.output()).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+$/m);
    expect(stack.output()).toMatch(/^ {2}started in \d+\.\d s$/m);
    expect(stack.output()).toContain(`curl -s ${baseUrl}/v1/subscriptions/plans`);
  });

  test('serves the documentation by the time it prints the ready line', () => {
    expect(statusOfDocs).toBe(200);
  });

  test('describes every process, database and the broker in stack.json, readable by its owner only', () => {
    const { base_url, processes, database_urls, nats_url, nats_urls } = stack.description();
    expect(base_url).toBe(baseUrl);
    expect(Object.keys(processes).sort()).toEqual(NAMES.toSorted());
    expect(Object.values(processes).every(({ pid, url }) => isAlive(pid) && URL.canParse(url))).toBe(true);
    expect(Object.keys(database_urls).sort()).toEqual(NAMES.slice(0, 4));
    expect(Object.keys(nats_urls).sort()).toEqual(NAMES.slice(0, 4));
    const users = [nats_url, ...NAMES.slice(0, 4).map((name) => nats_urls[name] ?? '')].map((url) => new URL(url));
    expect(users.map(({ username }) => username)).toEqual(['operator', ...NAMES.slice(0, 4)]);
    expect(new Set(users.map(({ host }) => host))).toEqual(new Set([new URL(processes['nats']?.url ?? '').host]));
    expect(new Set(users.map(({ password }) => password)).size).toBe(5);
    for (const file of ['stack.json', 'secrets.json', 'auth.instance.json', 'postgres.instance.json']) {
      expect(statSync(join(data.path, file)).mode & 0o077).toBe(0);
    }
  });

  test('connects each service to NATS as a separate user, and rejects clients without credentials', async () => {
    const { nats_url, nats_urls, processes } = stack.description();
    for (const [name, url] of [...Object.entries(nats_urls), ['operator', nats_url] as const]) {
      const connection = await connectToBroker({ url, name });
      const manager = await connection.jetstreamManager({ ...jetStreamOptions({ url }), checkAPI: false });
      expect((await manager.streams.info('KV_revocations')).config.name).toBe('KV_revocations');
      await connection.close();
    }
    const anonymous = connectToBroker({ url: processes['nats']?.url ?? '', name: 'auth', connectTimeoutMs: 0 });
    await expect(anonymous).rejects.toMatchObject({ cause: { code: 'AUTHORIZATION_VIOLATION' } });
  });

  test('recreates a stream that an operator deleted', async () => {
    const connection = await connectToBroker({ url: stack.description().nats_url, name: 'operator' });
    const manager = await connection.jetstreamManager();
    await manager.streams.delete('INFERENCE');
    await until(
      async () => (await manager.consumers.info('INFERENCE', 'billing_usage').catch(() => undefined)) !== undefined,
    );
    await connection.close();
  });

  test('routes requests to services through the ingress, with a request id', async () => {
    const response = await fetch(`${baseUrl}/v1/subscriptions/plans`, { headers: { 'x-request-id': 'req_forged' } });
    expect(await response.json()).toMatchObject({
      pid: stack.description().processes['billing']?.pid,
      requestId: response.headers.get('x-request-id'),
    });
  });

  test('denies each service the databases of the others', async () => {
    const { database_urls } = stack.description();
    const foreign = new URL(database_urls['auth'] ?? '');
    foreign.pathname = '/svc_billing';
    await expect(sql(foreign.href, 'SELECT 1')).rejects.toThrow(/permission denied/);
  });

  test('refuses a second copy on the same data directory and names the running one', async () => {
    const second = startStack(data.path);
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`as process ${stack.child.pid}`);
    expect(second.output()).toContain('SVC_DATA_DIR');
  });

  test('names a taken port, and runs beside another copy on other ports', async () => {
    const otherData = makeDataDirectory();
    const taken = startStack(otherData.path, { PORT: new URL(baseUrl).port });
    expect(await taken.exited).toBe(1);
    expect(taken.output()).toContain(`Port ${new URL(baseUrl).port} is taken`);
    expect(taken.output()).toContain('PORT=');
    const other = startStack(otherData.path);
    expect(await untilReady(other)).not.toBe(baseUrl);
    other.child.kill('SIGINT');
    expect(await other.exited).toBe(0);
    expect(await answersThroughIngress()).toBe(true);
    otherData.remove();
  });
});

describe('when a process dies', () => {
  test.each(NAMES)('restarts %s at the same address and updates its pid in stack.json', async (name) => {
    const before = stack.description().processes[name];
    if (before === undefined) throw new Error(`${name} is not described`);
    process.kill(before.pid, 'SIGKILL');
    await until(() => {
      const now = stack.description().processes[name];
      return now !== undefined && now.pid !== before.pid && isAlive(now.pid);
    });
    expect(stack.description().processes[name]?.url).toBe(before.url);
    await until(answersThroughIngress);
    expect(stack.output()).toContain(`${name} was ended by SIGKILL; starting it again`);
  });

  test('keeps the data of a killed database', async () => {
    const url = stack.description().database_urls['auth'] ?? '';
    await sql(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const { pid } = stack.description().processes['postgres'] ?? { pid: 0 };
    process.kill(pid, 'SIGKILL');
    await until(() => stack.description().processes['postgres']?.pid !== pid);
    expect(await sql(url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });
});

describe('stopping and starting again', () => {
  test('stops on SIGINT with code 0 and leaves neither a process nor stack.json', async () => {
    const pids = stack.pids();
    stack.child.kill('SIGINT');
    expect(await stack.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(join(data.path, 'stack.json'))).toBe(false);
    await expect(fetch(baseUrl)).rejects.toThrow();
  });

  test('continues with the same ports and data', async () => {
    stack = startStack(data.path);
    expect(await untilReady(stack)).toBe(baseUrl);
    expect(stack.output()).not.toContain('migrated');
    expect(await sql(stack.description().database_urls['auth'] ?? '', 'SELECT answer FROM kept')).toEqual([
      { answer: 42 },
    ]);
  });

  test('leaves no process behind when killed, and starts again', async () => {
    const pids = stack.pids();
    stack.child.kill('SIGKILL');
    await stack.exited;
    await until(() => !pids.some(isAlive));
    stack = startStack(data.path);
    expect(await untilReady(stack)).toBe(baseUrl);
  });

  test('stops in order when its foreground process is gone', async () => {
    const pids = stack.pids();
    stack.child.disconnect();
    expect(await stack.exited).toBe(0);
    expect(stack.output()).toContain('stopped');
    expect(pids.filter(isAlive)).toEqual([]);
    stack = startStack(data.path);
    expect(await untilReady(stack)).toBe(baseUrl);
  });

  test('starts at once after it was killed, when its processes still run', async () => {
    const pids = stack.pids();
    stack.child.kill('SIGKILL');
    stack = startStack(data.path);
    expect(await untilReady(stack)).toBe(baseUrl);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('names the remedy for a database of an older PostgreSQL', async () => {
    stack.child.kill('SIGTERM');
    expect(await stack.exited).toBe(0);
    writeFileSync(join(data.path, 'postgres', 'PG_VERSION'), '15\n');
    stack = startStack(data.path);
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toMatch(/PostgreSQL 15 database, but this release runs PostgreSQL \d+/);
    expect(stack.output()).not.toContain('    at ');
  });
});

describe('a start that meets an obstacle', () => {
  test('starts without a service whose folder is missing and reports it', async () => {
    const own = makeDataDirectory();
    const lonely = startStack(own.path, { FAKE_SERVICES: join(own.path, 'none') });
    const url = await untilReady(lonely);
    expect(lonely.output()).toContain('without billing: its folder is missing');
    expect((await fetch(`${url}/v1/subscriptions/plans`)).status).toBe(503);
    lonely.child.kill('SIGINT');
    await lonely.exited;
    own.remove();
  });

  test('restarts on other ports if another program takes one before it is used', async () => {
    const own = makeDataDirectory();
    const beaten = startStack(own.path);
    // The ports are used only once the database is created, which takes a while.
    const chosen = await waitForPorts(own.path);
    const taker = createServer().listen(chosen['postgres'], '127.0.0.1');
    await once(taker, 'listening');
    await untilReady(beaten);
    const { processes } = beaten.description();
    expect(beaten.output()).toContain(`port ${chosen['postgres']} was taken by another program in the meantime`);
    expect(processes['postgres']?.url).not.toContain(`:${chosen['postgres']}`);
    expect(processes['billing']?.url).toBe(`http://127.0.0.1:${chosen['billing']}`);
    beaten.child.kill('SIGTERM');
    expect(await beaten.exited).toBe(0);
    taker.close();
    own.remove();
  });

  test('names the reason and the log of a service that keeps ending, and stops the rest', async () => {
    const own = makeDataDirectory();
    const port = String(await freePort());
    const failing = startStack(own.path, { BILLING_PORT: port, FAKE_SERVICE_FAILS: port });
    expect(await failing.exited).toBe(1);
    const log = join(own.path, 'logs', 'billing.log');
    expect(failing.output()).toContain(`\nbilling ended with code 3: this service was told to fail. See ${log}.\n`);
    expect(existsSync(join(own.path, 'supervisor.json'))).toBe(false);
    own.remove();
  });

  test('stops cleanly in the middle of a start', async () => {
    const own = makeDataDirectory();
    const early = startStack(own.path);
    await until(() => early.output().includes('nats is ready'));
    early.child.kill('SIGINT');
    expect(await early.exited).toBe(0);
    expect(early.output()).not.toContain('ready http');
    const again = startStack(own.path);
    await untilReady(again);
    again.child.kill('SIGTERM');
    expect(await again.exited).toBe(0);
    own.remove();
  });
});
