import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { allRoutes, newId } from '@svc/contracts';
import { continueOnRead } from '@svc/service-kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createIngress, type Upstreams } from '../src/ingress/create-ingress.ts';
import { ingressTable } from '../src/ingress/ingress-table.ts';

/** Heads of requests that two readers could understand differently, and those that ask before they send a body. */

const servers: Server[] = [];
let service: RequestListener;
let base: string;

const listen = async (server: Server): Promise<string> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an AddressInfo.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const startIngress = (upstreams: Upstreams): Promise<string> =>
  listen(
    createIngress({
      table: ingressTable(allRoutes),
      upstreams,
      scheme: 'http',
      newRequestId: () => newId('req'),
      clock: () => performance.now(),
    }),
  );

beforeEach(async () => {
  base = await startIngress({ 'inference-gateway': await listen(createServer((req, res) => service(req, res))) });
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

/** Sends bytes and returns everything that comes back until the connection closes. */
const raw = async (text: string): Promise<string> => {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.write(text);
  await Promise.race([once(socket, 'close'), sleep(2_000)]);
  socket.destroy();
  return received;
};

test.each([
  ['417 for an unknown expectation (RFC 9110 §10.1.1)', '1.1', 'Expect: more', 'expectation_failed'],
  ['400 for two Authorization headers', '1.1', 'Authorization: Bearer a\r\nauthorization: b', 'repeated_auth'],
  ['400 for a coding in HTTP/1.0 (RFC 9112 §6.1)', '1.0', 'Transfer-Encoding: chunked', 'invalid_framing'],
])('returns %s, and closes the connection', async (title, version, header, code) => {
  let forwarded = 0;
  service = (_req, res) => {
    forwarded += 1;
    res.end();
  };
  const head = `POST /v1/completions HTTP/${version}\r\nHost: h\r\nConnection: keep-alive\r\n${header}\r\n\r\n`;
  const answer = await raw(`${head}0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n`);
  expect(answer).toMatch(
    new RegExp(`^HTTP/1\\.1 ${title.slice(0, 3)} .*\\r\\nconnection: close\\r\\n.*"code":"${code}`, 'is'),
  );
  expect([answer.match(/HTTP\/1\.1/g)?.length, forwarded]).toEqual([1, 0]);
});

test('RFC 9112 §3.2.2: serves a target in absolute form, whose authority replaces Host', async () => {
  const seen: unknown[] = [];
  service = (req, res) => {
    seen.push([req.url, req.headers.host, req.headers['x-forwarded-host']]);
    res.end();
  };
  for (const target of ['http://svc.example/v1/models?x=1', 'HTTP://svc.example:80/v1/models?x=1']) {
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: other\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 200/);
  }
  expect(seen).toEqual([
    ['/v1/models?x=1', 'svc.example', 'svc.example'],
    ['/v1/models?x=1', 'svc.example:80', 'svc.example:80'],
  ]);
  for (const target of ['http://user@svc.example/v1/models', 'ftp://svc.example/v1/models', 'http:///v1/models']) {
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`), target).toMatch(/^HTTP\/1.1 (404|400)/);
  }
  expect(await raw('GET http://svc.example HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')).toContain(
    'svc is running',
  );
});

test.each(['Content-Length: 4', 'Transfer-Encoding: chunked'])(
  'a request whose head the service refuses gets its status before it sends the body: %s',
  async (framing) => {
    service = (_req, res) => res.writeHead(402, { connection: 'close' }).end('refused');
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.write(`POST /v1/completions HTTP/1.1\r\nHost: h\r\n${framing}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 402 /);
    socket.destroy();
  },
);

describe('RFC 9110 §10.1.1: a request that waits for 100 Continue', () => {
  const HEAD = 'POST /v1/completions HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';
  /** Replaces the services by one that invites bodies itself. */
  const useService = async (listener: RequestListener): Promise<void> => {
    const server = createServer(listener);
    continueOnRead(server);
    base = await startIngress({ 'inference-gateway': await listen(server) });
  };

  test('gets the final status at once if the service refuses its head', async () => {
    await useService((_req, res) => res.writeHead(401, { 'x-seen': '1' }).end('refused'));
    const answer = await raw(HEAD);
    expect(answer).toMatch(/^HTTP\/1\.1 401 .*\r\nconnection: close\r\n.*refused/is);
    expect(answer).not.toContain('100 Continue');
  });

  test('gets the final status at once if the ingress itself answers', async () => {
    base = await startIngress({});
    expect(await raw(HEAD)).toMatch(/^HTTP\/1\.1 503 .*\r\nconnection: close\r\n/is);
  });

  test('is invited to send its body once the service reads it', async () => {
    await useService((req, res) => void req.toArray().then((pieces) => res.end(`read ${Buffer.concat(pieces)}`)));
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    socket.write(HEAD);
    const [invitation] = await once(socket, 'data');
    expect(String(invitation)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('body');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });
});
