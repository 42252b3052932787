import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { allRoutes, newId } from '@svc/contracts';
import { makeDrainable } from '@svc/service-kit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIngress } from '../src/ingress/create-ingress.ts';
import { ingressTable } from '../src/ingress/ingress-table.ts';

const servers: Server[] = [];
let service: Server;
let ingress: Server;

const listen = async (server: Server): Promise<number> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
};

// A listening TCP server has an AddressInfo.
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeEach(async () => {
  service = createServer((req, res) => req.resume().on('end', () => res.end('ok')));
  const url = `http://127.0.0.1:${await listen(service)}`;
  ingress = createIngress({
    table: ingressTable(allRoutes),
    upstreams: { auth: url, 'inference-gateway': url },
    scheme: 'http',
    newRequestId: () => newId('req'),
    clock: () => performance.now(),
    onAnswered: () => undefined,
  });
  makeDrainable(ingress);
  await listen(ingress);
});

afterEach(async () => {
  for (const server of servers.splice(0).reverse()) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

const listenersOf = (socket: Socket): Record<string, number> =>
  Object.fromEntries(socket.eventNames().map((name) => [String(name), socket.listenerCount(name)]));

test('adds no listeners and causes no warning for 1,000 requests on one connection', async () => {
  const warnings: Error[] = [];
  const accepted: Socket[] = [];
  const upstream = new Set<Socket>();
  const warned = (warning: Error): void => void warnings.push(warning);
  const onUpstream = (message: unknown): void => {
    // The message of this channel, as documented by node:diagnostics_channel.
    const { request: sent } = message as { request: ClientRequest };
    if (sent.getHeader('x-forwarded-for') !== undefined) sent.once('socket', (socket) => upstream.add(socket));
  };
  process.on('warning', warned);
  channel('http.client.request.created').subscribe(onUpstream);
  ingress.on('connection', (socket) => accepted.push(socket));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  const ask = async (): Promise<void> => {
    const sent = request({ port: portOf(ingress), path: '/v1/chat/completions', method: 'POST', agent });
    sent.end('{}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    await answer.resume().toArray();
  };
  const counts = (): object[] => [...accepted, ...upstream].map(listenersOf);

  for (let asked = 0; asked < 10; asked += 1) await ask();
  const first = counts();
  for (let asked = 10; asked < 1_000; asked += 1) await ask();
  const last = counts();
  process.off('warning', warned);
  channel('http.client.request.created').unsubscribe(onUpstream);
  agent.destroy();

  expect([accepted.length, upstream.size]).toEqual([1, 1]);
  expect(last).toEqual(first);
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
});

test('forwards 32 pipelined requests at most, and closes the connection of a sender of more', async () => {
  const held = new Set<Socket>();
  service.removeAllListeners('request').on('request', ({ socket }: IncomingMessage) => held.add(socket));
  const honest = connect(portOf(ingress), '127.0.0.1');
  honest.write('GET /v1/integrations/apps HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(32));
  await expect.poll(() => held.size).toBe(32);
  const greedy = connect(portOf(ingress), '127.0.0.1');
  greedy.write('GET /v1/integrations/apps HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(500));
  await once(greedy.resume(), 'close');
  await expect.poll(() => [...held].filter(({ destroyed }) => !destroyed).length).toBe(32);
  expect(held.size).toBeLessThanOrEqual(64);
  expect(honest.destroyed).toBe(false);
  honest.destroy();
});

test.each([
  ['POST /v1/chat/completions', 'the gateway', '"type":"invalid_request_error","param":null,"code":"repeated_host"}}'],
  ['GET /v1/models/vendor%2Fname', 'an ambiguous gateway path', '"code":"repeated_host"}}'],
  ['POST /v1/integrations/oauth/token', 'the token endpoint', '{"error":"invalid_request","error_description":'],
  ['GET /v1/integrations/apps', 'a path of auth', '{"detail":{"code":"repeated_host"'],
  ['GET /', 'the root', '{"detail":{"code":"repeated_host"'],
])('RFC 9112 §3.2: %s with two Host headers (%s) returns 400 in the shape of the path', async (start, _path, body) => {
  let forwarded = 0;
  service.on('request', () => {
    forwarded += 1;
  });
  const socket = connect(portOf(ingress), '127.0.0.1');
  socket.write(`${start} HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n`);
  const answer = String(Buffer.concat(await socket.toArray()));
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\nx-request-id: req_.*\r\nconnection: close\r\n/is);
  expect(answer).toContain(body);
  expect(forwarded).toBe(0);
});
