import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createTestAuthority, type TestAuthority } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDestination } from './check-destination.ts';
import { parseAllowTargets, parseDestination } from './destination.ts';
import { createPinnedAgent, createTlsSessions, type PinnedAgent } from './pinned-agent.ts';
import type { ReadAnswer } from './pinned-connection.ts';

const NAME = 'files.publisher.test';
let authority: TestAuthority;
let agent: PinnedAgent;
let server: Server;
const asked: string[] = [];

beforeAll(async () => {
  authority = await createTestAuthority();
  agent = createPinnedAgent({ extraCaFile: authority.caFile });
  server = createServer(await authority.issue({ names: [NAME] }), (req, res) => {
    asked.push(`${req.method} ${req.url} ${req.headers.host?.split(':')[0]} ${req.headers['user-agent']}`);
    if (req.url === '/moved') res.writeHead(302, { location: '/file' }).end();
    else if (req.url === '/long') res.end('x'.repeat(1_000_000));
    else res.end('proof');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  agent?.destroy();
  server?.closeAllConnections();
  server?.close();
  authority?.remove();
});

const get = async (path: string, name = NAME): Promise<ReadAnswer> => {
  // The address of a listening server is an object.
  const { port } = server.address() as AddressInfo;
  const signal = AbortSignal.timeout(5_000);
  const destination = parseDestination(`https://${name}:${port}${path}`, parseAllowTargets([`${name}:${port}`]));
  const checked = await checkDestination(destination, { lookup: async () => ['127.0.0.1'], signal });
  return await agent.get(checked, { headers: { 'user-agent': 'test' }, bodyBytesMax: 4_096 }, signal);
};

describe('a GET of the pinned agent', () => {
  test('returns status and body, and leaves no connection open', async () => {
    const { statusCode, body } = await get('/file');
    expect([statusCode, body.toString()]).toEqual([200, 'proof']);
    expect(asked).toEqual([`GET /file ${NAME} test`]);
    await expect.poll(() => agent.openSockets()).toBe(0);
  });

  test('follows no redirect', async () => {
    expect((await get('/moved')).statusCode).toBe(302);
  });

  test('reads no more of a body than asked for', async () => {
    expect((await get('/long')).body).toHaveLength(4_096);
  });

  test('rejects if the certificate is for another name', async () => {
    await expect(get('/file', 'other.publisher.test')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });
});

const MINUTE_MS = 60_000;

test('a session serves only its destination, for five minutes', () => {
  let nowMs = 0;
  const sessions = createTlsSessions(() => nowMs);
  sessions.remember('a', Buffer.from('1'));
  nowMs = 4 * MINUTE_MS;
  expect([sessions.find('a')?.toString(), sessions.find('b')]).toEqual(['1', undefined]);
  nowMs = 5 * MINUTE_MS;
  expect(sessions.find('a')).toBeUndefined();
});

test('a session that resumes another one ends with it, so that the certificate is verified again', () => {
  let nowMs = 0;
  const sessions = createTlsSessions(() => nowMs);
  sessions.remember('a', Buffer.from('1'));
  nowMs = 4 * MINUTE_MS;
  sessions.remember('a', Buffer.from('2'));
  expect(sessions.find('a')?.toString()).toBe('2');
  nowMs = 5 * MINUTE_MS;
  expect(sessions.find('a')).toBeUndefined();
  sessions.remember('a', Buffer.from('3'));
  nowMs = 9 * MINUTE_MS;
  expect(sessions.find('a')?.toString()).toBe('3');
});

test('the number of sessions is limited, and the oldest is dropped first', () => {
  const sessions = createTlsSessions(() => 0);
  for (let index = 0; index <= 1_000; index += 1) sessions.remember(String(index), Buffer.from('x'));
  expect([sessions.find('0'), sessions.find('1')?.toString()]).toEqual([undefined, 'x']);
});
