import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectPatiently, createDatabase } from '../src/index.ts';
import { adminUrl } from './support/empty-database.ts';

/** Listens in front of PostgreSQL, and lets so many connections wait before it forwards one. */
const slowEntrance = async (waiting: number): Promise<{ url: string; accepted: () => number }> => {
  const { hostname, port } = new URL(adminUrl());
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    if (sockets.length > waiting) socket.pipe(connect(Number(port), hostname)).pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  const url = new URL(adminUrl());
  url.host = `127.0.0.1:${address.port}`;
  return { url: url.href, accepted: () => sockets.length };
};

const open = (url: string) => {
  const database = createDatabase(url, { poolMax: 1, connectTimeoutMs: 300, acquireTimeoutMs: 300 });
  onTestFinished(() => database.destroy());
  return database;
};

test('connects although the first attempts time out', async () => {
  const { url, accepted } = await slowEntrance(2);
  await expect(open(url).raw('SELECT 1')).rejects.toThrow(/timeout/i);
  const waited: string[] = [];
  await connectPatiently(open(url), { url, onWaiting: ({ message }) => waited.push(message) });
  expect(waited).toEqual([
    expect.stringMatching(/^DATABASE_URL: cannot connect to PostgreSQL at 127\.0\.0\.1:\d+ as .*timeout/i),
  ]);
  expect(accepted()).toBeGreaterThan(2);
});

test('connects to one of several servers although the first attempts time out', async () => {
  const { url, accepted } = await slowEntrance(2);
  const { host } = new URL(url);
  const several = url.replace(host, `127.0.0.1:1,${host}`);
  await connectPatiently(open(several), { url: several });
  expect(accepted()).toBeGreaterThan(2);
});

test('gives up after its patience', async () => {
  const { url } = await slowEntrance(Number.POSITIVE_INFINITY);
  await expect(connectPatiently(open(url), { url, patienceMs: 500 })).rejects.toThrow(/timeout/i);
});

test('throws a wrong password and a refused connection at once, with hosts and user, without the password', async () => {
  const failureOf = (url: string) => connectPatiently(open(url), { url }).then(String, String);
  const wrong = new URL(adminUrl());
  wrong.password = 'a-wrong-password';
  const several = wrong.href.replace(wrong.host, `${wrong.host},${wrong.host}`);
  for (const [url, hosts] of [
    [wrong.href, wrong.host],
    [several, `${wrong.host}, ${wrong.host}`],
  ] as const) {
    const failure = await failureOf(url);
    expect(failure).toContain(`DATABASE_URL: cannot connect to PostgreSQL at ${hosts} as ${wrong.username} for`);
    expect(failure).toContain('password authentication failed');
    expect(failure).not.toContain('a-wrong-password');
  }
  expect(await failureOf('postgres://svc:x@127.0.0.1:1/svc_auth')).toMatch(
    /PostgreSQL at 127\.0\.0\.1:1 as svc for svc_auth: connect ECONNREFUSED/,
  );
});
