import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { holdDefaultHeaders } from './default-headers.ts';

const answerOf = async (answer: (res: ServerResponse) => void): Promise<Response> => {
  const server = createServer((_req, res) => {
    holdDefaultHeaders(res, { requestId: 'req_1', isHttps: true });
    answer(res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    // The address of a listening TCP server is an object.
    return await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

test.each<[string, (res: ServerResponse) => void]>([
  ['without a head', (res) => res.end()],
  ['with a status alone', (res) => res.writeHead(200).end()],
  ['with headers by name', (res) => res.writeHead(200, { 'x-own': 'a' }).end()],
  ['with a list of headers', (res) => res.writeHead(200, ['x-own', 'a']).end()],
  ['with a message', (res) => res.writeHead(200, 'Fine').end()],
  ['with a message and headers', (res) => res.writeHead(200, 'Fine', { 'x-own': 'a' }).end()],
  ['with no message and headers', (res) => res.writeHead(200, undefined, { 'x-own': 'a' }).end()],
  ['after other headers', (res) => res.setHeader('x-own', 'a').writeHead(200, { 'x-other': 'b' }).end()],
])('adds them to a response %s', async (how, answer) => {
  const { status, headers } = await answerOf(answer);
  expect(status).toBe(200);
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-request-id': 'req_1',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'strict-transport-security': 'max-age=31536000',
  });
  if (how.includes('headers')) expect(headers.get('x-own')).toBe('a');
});

test.each<[string, (res: ServerResponse) => void]>([
  ['with the head', (res) => res.writeHead(200, { 'CACHE-control': 'public' }).end()],
  ['before it', (res) => res.setHeader('Cache-Control', 'public').end()],
])('sends a header once if it is replaced %s', async (_when, answer) => {
  expect((await answerOf(answer)).headers.get('cache-control')).toBe('public');
});
