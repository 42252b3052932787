import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { allRoutes, newId, unservedPaths } from '@svc/contracts';
import { type Drain, makeDrainable } from '@svc/service-kit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AccessRecord, createIngress, type Upstreams } from '../src/ingress/create-ingress.ts';
import { ingressTable } from '../src/ingress/ingress-table.ts';
import type { ReadinessUrls } from '../src/ingress/stopping-services.ts';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

const servers: Server[] = [];
let service: Handler;
let base: string;
let log: AccessRecord[];
/** Offset of the ingress's clock. */
let laterMs: number;

const listen = async (server: Server): Promise<string> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A listening TCP server has an AddressInfo.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const startIngress = (upstreams: Upstreams, readinessUrls: ReadinessUrls = {}): Promise<string> =>
  listen(
    createIngress({
      table: ingressTable([...allRoutes, ...unservedPaths]),
      upstreams,
      readinessUrls,
      scheme: 'http',
      newRequestId: () => newId('req'),
      clock: () => performance.now() + laterMs,
      onAnswered: (record) => log.push(record),
      idleTimeoutMs: { answers: 300, streams: 5_000 },
    }),
  );

beforeEach(async () => {
  log = [];
  laterMs = 0;
  service = (_req, res) => res.end('ok');
  const url = await listen(createServer((req, res) => service(req, res)));
  base = await startIngress({ auth: url, 'inference-gateway': url, 'webhook-dispatcher': url });
});

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

const seenHeaders = async (headers: Record<string, string>): Promise<IncomingHttpHeaders> => {
  const seen = new Promise<IncomingHttpHeaders>((resolve) => {
    service = (req, res) => {
      resolve(req.headers);
      res.end();
    };
  });
  const req = request(`${base}/v1/models`, { headers, agent: false });
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  return seen;
};

/** Sends bytes and returns everything that comes back until the connection closes. */
const raw = async (text: string, waitMs = 500): Promise<string> => {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.write(text);
  await Promise.race([once(socket, 'close'), sleep(waitMs)]);
  socket.destroy();
  return received;
};

describe('headers', () => {
  test('sets request id, client address, scheme and host and drops incoming ones', async () => {
    const seen = await seenHeaders({
      'x-request-id': 'req_forged',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-port': '1',
      forwarded: 'for=203.0.113.9',
      'x-real-ip': '203.0.113.9',
      'x-svc-compliance': 'headers',
      authorization: 'Bearer token',
    });
    expect(seen).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(base).host,
      'x-request-id': expect.stringMatching(/^req_[0-9a-z]{26}$/),
      'x-svc-compliance': 'headers',
      authorization: 'Bearer token',
    });
    for (const name of ['forwarded', 'x-real-ip', 'x-forwarded-port']) expect(seen).not.toHaveProperty(name);
  });

  test('drops headers of the connection and those that Connection names, but none that frames the body', async () => {
    const seen = await seenHeaders({
      connection: 'close, x-hop, content-length, x-forwarded-for',
      'x-hop': '1',
      te: 'trailers',
      'proxy-authorization': 'Basic x',
    });
    for (const name of ['x-hop', 'te', 'proxy-authorization']) expect(seen).not.toHaveProperty(name);
    expect(seen['x-forwarded-for']).toBe('127.0.0.1');
  });

  test('answers with its own request id and forwards the service’s headers unchanged', async () => {
    service = (_req, res) => {
      res.writeHead(201, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Svc-Compliance-Model': 'm', 'X-Request-Id': 'req_other' });
      res.end('made');
    };
    const response = await fetch(`${base}/v1/models`);
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(response.headers.get('x-svc-compliance-model')).toBe('m');
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    expect(log).toMatchObject([{ template: '/v1/models', status: 201, method: 'GET' }]);
  });
});

describe('bodies', () => {
  test('forwards path and query byte for byte', async () => {
    const seen: string[] = [];
    service = (req, res) => {
      seen.push(req.url ?? '');
      res.end();
    };
    const targets = [
      '/v1/models/?a=b%20c&d=http://x//y?z',
      '/v1/integrations/oauth/authorize?redirect_uri=https%3A%2F%2Fa%2Fb&state=%7B%22',
      "/v1/integrations/apps/a%20b;c='d'/webhook?",
      '/v1/integrations/connections/https%3A%2F%2Fagent.example%2Fa.json/grants',
    ];
    for (const target of targets) await raw(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect(seen).toEqual(targets);
  });

  test('streams a request body instead of collecting it', async () => {
    const arrived = Promise.withResolvers<void>();
    service = (req, res) => {
      req.once('data', () => arrived.resolve());
      req.on('end', () => res.end());
    };
    const req = request(`${base}/v1/completions`, { method: 'POST' });
    req.write('first');
    await arrived.promise;
    req.end('last');
    await once(req, 'response');
  });

  test.each([
    ['application/json', 1],
    ['text/event-stream; charset=utf-8', 2],
  ])('uses a connection again unless it carried a stream: after %s, two requests take %i', async (type, count) => {
    const ports = new Set<number | undefined>();
    service = (req, res) => {
      ports.add(req.socket.remotePort);
      res.writeHead(200, { 'content-type': type }).end('data: x\n\n');
    };
    for (let index = 0; index < 2; index += 1) {
      await (await fetch(`${base}/v1/models`)).text();
      // The connection is free shortly after the response has been logged.
      await expect.poll(() => log.length).toBe(index + 1);
      await sleep(5);
    }
    expect(ports.size).toBe(count);
  });

  test('forwards a stream event by event, headers first', async () => {
    let send = (_text: string): void => undefined;
    service = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.flushHeaders();
      send = (text) => (text === '' ? res.end() : res.write(text));
    };
    const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', body: '{}' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const event of ['data: one\n\n', 'data: two\n\n']) {
      send(event);
      expect((await reader?.read())?.value).toBe(event);
    }
    send('');
    expect((await reader?.read())?.done).toBe(true);
  });

  test('forwards an early refusal while the client still sends', async () => {
    service = (_req, res) => res.writeHead(413).end('too large');
    const response = await fetch(`${base}/v1/completions`, { method: 'POST', body: Buffer.alloc(3_000_000) });
    expect(response.status).toBe(413);
    expect(await response.text()).toBe('too large');
  });

  test('answers the next request on a connection after an early refusal', async () => {
    service = (req, res) => {
      if (req.url === '/v1/models') res.end('next');
      else res.writeHead(413).end('too large');
    };
    const body = 'a'.repeat(8_000_000);
    const sent = `POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const received = await raw(`${sent}GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 3_000);
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
  });

  test('closes the connection of a request that has stopped arriving', async () => {
    service = (_req, res) => res.writeHead(408, { connection: 'close' }).end('too late');
    const received = await raw('POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nstopp', 3_000);
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 408']);
    expect(received).toMatch(/connection: close/i);
  });
});

describe('when one side disconnects', () => {
  test('aborts the upstream request if the client leaves a stream', async () => {
    const left = new Promise<void>((resolve) => {
      service = (req, res) => {
        req.resume();
        res.write('data: one\n\n');
        res.once('close', resolve);
      };
    });
    const leaving = new AbortController();
    const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', body: '{}', signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    await left;
    expect(log.at(-1)?.status ?? 499).toBe(499);
  });

  test('aborts the upstream request if the client leaves before the response begins', async () => {
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    service = (req, res) => {
      req.resume();
      arrived.resolve();
      res.once('close', () => left.resolve());
    };
    const leaving = new AbortController();
    const answer = fetch(`${base}/v1/chat/completions`, { method: 'POST', body: '{}', signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await left.promise;
  });

  test('aborts the response if the service dies in the middle of it', async () => {
    service = (_req, res) => {
      res.write('half');
      setTimeout(() => res.socket?.destroy(), 50);
    };
    const response = await fetch(`${base}/v1/models`);
    await expect(response.text()).rejects.toThrow();
  });

  test('returns 503 with Retry-After, in the shape of the path, if the service does not listen', async () => {
    const down = await startIngress({ auth: 'http://127.0.0.1:1', 'inference-gateway': 'http://127.0.0.1:1' });
    const apps = await fetch(`${down}/v1/integrations/apps`);
    expect(apps.status).toBe(503);
    expect(apps.headers.get('retry-after')).toBe('1');
    expect(apps.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await apps.json()).toMatchObject({ detail: { code: 'service_unavailable' } });
    const chat = await fetch(`${down}/v1/chat/completions`, { method: 'POST', body: '{}' });
    expect(await chat.json()).toMatchObject({
      error: { code: 'service_unavailable', type: 'server_error', param: null },
    });
    const token = await fetch(`${down}/v1/integrations/oauth/token`, { method: 'POST' });
    expect(await token.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect((await fetch(`${down}/v1/subscriptions/plans`)).status).toBe(503);
  });

  test('lets pages of any origin read its own errors where they may read those of the service', async () => {
    const down = await startIngress({ auth: 'http://127.0.0.1:1', 'inference-gateway': 'http://127.0.0.1:1' });
    const originOf = async (path: string) => {
      const response = await fetch(`${down}${path}`);
      return [response.status, response.headers.get('access-control-allow-origin')];
    };
    expect(await originOf('/v1/integrations/inference/capabilities')).toEqual([503, '*']);
    expect(await originOf('/v1/integrations/oauth/jwks')).toEqual([503, '*']);
    expect(await originOf('/v1/integrations/apps')).toEqual([503, null]);
    expect(await originOf('/v1/chat/completions')).toEqual([503, null]);
    const { headers } = await fetch(`${down}/v1/integrations/inference/capabilities`);
    expect(headers.get('access-control-expose-headers')).toBe('X-Request-Id, Retry-After, WWW-Authenticate');
  });

  test('returns a page that reloads while the console is down, and a plain 503 for a file', async () => {
    const down = await startIngress({ console: 'http://127.0.0.1:1' });
    for (const path of ['/', '/docs', '/apps?x=1']) {
      const page = await fetch(down + path, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect(page.status, path).toBe(503);
      expect(page.headers.get('retry-after'), path).not.toBeNull();
      expect(await page.text(), path).toMatch(/http-equiv="refresh"[\s\S]*The console is starting/);
    }
    const file = await fetch(`${down}/docs/partner-sdk.tgz`);
    expect([file.status, file.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await fetch(down)).status).toBe(200);
  });

  test('returns 503 without Retry-After if the request may have been carried out', async () => {
    service = (req) => req.socket.destroy();
    const response = await fetch(`${base}/v1/gateway/keys`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(503);
    expect(response.headers.has('retry-after')).toBe(false);
  });

  test.each([
    ['/v1/completions', 'error'],
    ['/v1/integrations/inference/chat/completions', 'detail'],
    ['/v1/integrations/inference/audio/transcriptions', 'detail'],
  ])('returns 504 with x-should-retry: false if a request to %s may have cost something', async (path, member) => {
    service = (req) => req.socket.destroy();
    const response = await fetch(base + path, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([504, 'false']);
    expect(response.headers.has('retry-after')).toBe(false);
    expect(await response.json()).toMatchObject({ [member]: { code: 'upstream_timeout_uncertain' } });
  });

  test('returns 503 when a service stays silent', async () => {
    service = () => undefined;
    expect((await fetch(`${base}/v1/console/session`)).status).toBe(503);
  });
});

describe('when a service stops', () => {
  const PATH = '/v1/chat/completions';
  let said: object;
  let entrance: string;
  let readiness: Server;
  let reached: number;

  beforeEach(async () => {
    said = { status: 'ready', checks: {} };
    reached = 0;
    service = (_req, res) => {
      reached += 1;
      res.end('ok');
    };
    readiness = createServer((_req, res) => res.end(JSON.stringify(said)));
    const readinessUrls = { 'inference-gateway': `${await listen(readiness)}/readyz` };
    const url = await listen(createServer((req, res) => service(req, res)));
    entrance = await startIngress({ 'inference-gateway': url }, readinessUrls);
  });

  const ask = async (): Promise<Response> => {
    const answer = await fetch(entrance + PATH, { method: 'POST', body: '{}' });
    await answer.clone().arrayBuffer();
    return answer;
  };
  const status = async (): Promise<number> => (await ask()).status;

  test('forwards nothing once it reports the stop, and returns 503 with Retry-After', async () => {
    expect(await status()).toBe(200);
    said = { status: 'stopping', checks: {} };
    await expect.poll(status).toBe(503);
    const before = reached;
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } });
    expect(reached).toBe(before);
  });

  test('forwards requests again once it is back', async () => {
    said = { status: 'stopping', checks: {} };
    await expect.poll(status).toBe(503);
    said = { status: 'ready', checks: {} };
    await expect.poll(status).toBe(200);
  });

  test('ignores an old report', async () => {
    said = { status: 'stopping', checks: {} };
    await expect.poll(status).toBe(503);
    laterMs = 60_000;
    expect(await status()).toBe(200);
  });

  test.each([
    ['is not ready for another reason', () => Object.assign(said, { status: 'not_ready' })],
    ['does not answer its probe', () => readiness.close().closeAllConnections()],
  ])('forwards requests to a service that %s', async (_case, change) => {
    change();
    for (let asked = 0; asked < 5; asked += 1) {
      expect(await status()).toBe(200);
      await sleep(100);
    }
  });
});

describe('when it stops', () => {
  const HEAD = 'GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n';
  let drain: Drain;

  beforeEach(() => {
    // The ingress was started last.
    drain = makeDrainable(servers.at(-1) as Server);
  });

  const open = async (text: string): Promise<{ socket: Socket; ended: Promise<string> }> => {
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    await once(socket, 'connect');
    const chunks: string[] = [];
    socket.on('data', (chunk) => chunks.push(String(chunk)));
    const ended = once(socket, 'end').then(() => chunks.join(''));
    socket.write(text);
    return { socket, ended };
  };

  test('completes open answers with Connection: close', async () => {
    const asked = new Promise<ServerResponse>((resolve) => {
      service = (_req, res) => resolve(res);
    });
    const { ended } = await open(HEAD);
    const answer = await asked;
    const drained = drain(10_000);
    answer.end('whole');
    expect(await ended).toMatch(/\r\nconnection: close\r\n.*whole$/is);
    await drained;
  });

  test('closes the connection of a stream with the stream', async () => {
    const asked = new Promise<ServerResponse>((resolve) => {
      service = (_req, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        resolve(res);
      };
    });
    const { socket, ended } = await open(HEAD);
    await once(socket, 'data');
    const drained = drain(10_000);
    (await asked).end('data: [DONE]\n\n');
    // Long before the idle timeout.
    expect(await Promise.race([ended, sleep(1_000, 'late')])).toContain('[DONE]');
    await drained;
  });

  test('answers the first request of a connection that was open before', async () => {
    const { socket, ended } = await open('');
    await sleep(20);
    const drained = drain(10_000);
    socket.write(HEAD);
    expect(await ended).toMatch(/\r\nconnection: close\r\n.*ok$/is);
    await drained;
  });
});

describe('refusals', () => {
  test('returns 404 in the common wire format for an encoded slash below the gateway', async () => {
    const answer = await raw('GET /v1/chat%2Fcompletions HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('"error":{"message":');
    const [, requestId] = /^x-request-id: (req_\w+)/im.exec(answer) ?? [];
    expect(answer).toContain(`x-svc-compliance-gateway-request-id: ${requestId}\r\n`);
  });

  test.each([
    '//v1/models',
    '/v1/%6dodels',
    '/v1/console/../models',
    '/internal/admission-batches',
    '/metrics',
    '/nope',
  ])('returns 404 in the detail shape for %s', async (target) => {
    let isReached = false;
    service = (_req, res) => {
      isReached = true;
      res.end();
    };
    const answer = await raw(`GET ${target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('"detail":{"code":"not_found"');
    expect(answer).toMatch(/x-request-id: req_/);
    expect(isReached).toBe(false);
  });

  test.each([
    ['a length and chunks', 'POST', 'Content-Length: 3\r\nTransfer-Encoding: chunked'],
    ['chunks on DELETE, which http-proxy would frame anew', 'DELETE', 'Transfer-Encoding: chunked'],
    ['two lengths', 'POST', 'Content-Length: 3\r\nContent-Length: 4'],
    ['an unknown coding', 'POST', 'Transfer-Encoding: gzip, chunked'],
  ])('RFC 9112 §11.2: returns 400 for %s', async (_name, method, headers) => {
    let requests = 0;
    service = (_req, res) => {
      requests += 1;
      res.end();
    };
    const smuggled = 'GET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n';
    const answer = await raw(
      `${method} /v1/console/session HTTP/1.1\r\nHost: h\r\n${headers}\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(requests).toBe(0);
  });

  test.each([
    ['malformed HTTP', 'hello\r\n\r\n', 400],
    ['a head without an end', `GET /v1/models HTTP/1.1\r\nHost: h\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ['a request without a host', 'GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    [
      'a chunk without a length',
      'POST /v1/models HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
      400,
    ],
  ])('returns an error with a request id for %s', async (_name, text, status) => {
    service = (req, res) => req.on('end', () => res.end()).resume();
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/x-request-id: req_/);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test.each([
    ['that has begun', ''],
    ['while the next one waits behind it', '0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: h\r\n\r\n'],
  ])('never writes an error into an answer %s', async (_name, more) => {
    service = (req, res) => {
      if (req.method === 'POST') res.write('begun');
    };
    const socket = connect(Number(new URL(base).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      if (received === '') socket.write(`${more}ZZ\r\n`);
      received += chunk.toString();
    });
    socket.on('error', () => {});
    socket.write('POST /v1/models HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
    await once(socket, 'close');
    expect(received).toContain('begun');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('returns 501 for a WebSocket upgrade', async () => {
    const answer = await raw(
      'GET /v1/models HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 501 /);
  });
});

describe('the root', () => {
  test('lists entry points as a page for browsers and as JSON for programs', async () => {
    const page = await fetch(`${base}/`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toContain('/v1/openapi.json');
    const plain = await fetch(`${base}/`, { headers: { accept: 'application/json' } });
    expect(await plain.json()).toMatchObject({ name: 'svc' });
  });
});
