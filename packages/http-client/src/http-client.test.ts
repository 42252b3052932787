import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { freePort, waitFor } from '@svc/testing';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, httpStand, nextTurn } from '../test/support/http-stand.ts';
import type { RawConnection } from '../test/support/raw-http-server.ts';

const { server: start, client: createClient, ask } = httpStand();

/** Random enough to show bytes that are lost or stand elsewhere. */
const bytesOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7) & 0xff;
  return bytes;
};
const isGone = ({ socket }: RawConnection): boolean => socket.destroyed;
/** How many connections have served how many requests is what the bodies of these answers tell. */
const answerByNumber = () => {
  const served = new Map<number, number>();
  return (_request: unknown, { number }: RawConnection): string => {
    served.set(number, (served.get(number) ?? 0) + 1);
    return answerOf(`${number}.${served.get(number)}`);
  };
};

/** As `ask`, when what is idle has been so for more than a second. */
const askLater: typeof ask = (...asked) => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_500);
  const asking = ask(...asked);
  clock.mockRestore();
  return asking;
};

/** Asks a server twice that says this on its first connection, and `two` on the others. */
const askTwice = async (answer: string) => {
  const server = await start({ onRequest: (_request, { number }) => (number === 1 ? answer : answerOf('two')) });
  const client = createClient();
  const first = ask(client, server);
  await first.over;
  await nextTurn();
  const second = ask(client, server);
  await second.over;
  return { server, first, second };
};

describe('RFC 9112 §3 and §6: a request arrives as it was given', () => {
  const large = bytesOf(1024 * 1024);
  test.each([
    ['no body', null, ['content-length: 0'], Buffer.alloc(0)],
    ['a text', 'hello', ['content-length: 5'], Buffer.from('hello')],
    ['a text that is not ASCII', 'h\u00e9 \u{1f600}', ['content-length: 8'], Buffer.from('h\u00e9 \u{1f600}')],
    ['few bytes', bytesOf(300), ['content-length: 300'], bytesOf(300)],
    ['many bytes', large, [`content-length: ${large.length}`], large],
    [
      'a stream',
      Readable.from(['a', '', Buffer.from('b\u00e9'), Buffer.from(large)]),
      ['transfer-encoding: chunked'],
      undefined,
    ],
  ])('with %s', async (_name, body, framing, expected) => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const headers = { 'x-One': 'a b', authorization: 'Bearer x' };
    const exchange = ask(createClient(), { ...server, method: 'POST', path: '/v1/x?y=%20', headers, body });
    await exchange.over;
    expect(exchange.calls).toEqual(['onStart', 'onSent', 'onHead', 'onData', 'onEnd']);
    const [request] = server.requests;
    expect(request?.line).toBe('POST /v1/x?y=%20 HTTP/1.1');
    const own = [`host: 127.0.0.1:${server.port}`, 'connection: keep-alive', 'x-One: a b', 'authorization: Bearer x'];
    expect(request?.headers).toEqual([...own, ...framing]);
    const whole = expected ?? Buffer.concat([Buffer.from('ab\u00e9'), large]);
    expect(Buffer.from(request?.body ?? '', 'latin1').equals(whole)).toBe(true);
  });

  test('with a stream, no faster than the server takes it', async () => {
    const server = await start({ onConnection: ({ socket }) => socket.pause() });
    let given = 0;
    const source = function* () {
      for (; given < 256; given += 1) yield large.subarray(0, 64 * 1024);
    };
    const body = Readable.from(source(), { highWaterMark: 1 });
    const exchange = ask(createClient(), { ...server, method: 'POST', body });
    await waitFor(() => body.isPaused());
    const [before] = [given];
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect([given, body.isPaused()]).toEqual([before, true]);
    expect(given).toBeLessThan(256);
    const [connection] = server.connections;
    connection?.socket.resume();
    await waitFor(() => exchange.calls.includes('onSent') && connection?.pending().endsWith('\r\n0\r\n\r\n'));
    expect(connection?.pending().length).toBeGreaterThan(256 * 64 * 1024);
    connection?.socket.write(answerOf('ok'));
    await exchange.over;
  });

  test('with a stream, whose pieces are emptied once they are sent, unless there is more in their memory', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const pieces = [bytesOf(70_000), bytesOf(1), bytesOf(70_000).subarray(1), bytesOf(70_000)];
    const exchange = ask(createClient(), { ...server, method: 'POST', body: Readable.from(pieces) });
    await exchange.over;
    const sent = [bytesOf(70_000), bytesOf(1), bytesOf(70_000).subarray(1), bytesOf(70_000)];
    expect(Buffer.from(server.requests[0]?.body ?? '', 'latin1').equals(Buffer.concat(sent))).toBe(true);
    expect(pieces.map(({ length }) => length)).toEqual([0, 0, 69_999, 0]);
  });

  test('by the reading of node:http, on one connection', async () => {
    const sockets = new Set<unknown>();
    const server = createServer(async (req, res) => {
      sockets.add(req.socket);
      res.setHeader('x-host', req.headers.host ?? '');
      res.end(`${req.method} ${req.url} ${await text(req)}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A listening TCP server has an address of this shape.
    const { port } = server.address() as AddressInfo;
    const client = createClient();
    try {
      const origin = `http://127.0.0.1:${port}`;
      for (const body of ['text', Buffer.from('bytes'), Readable.from(['str', 'eam']), null]) {
        const exchange = ask(client, { origin, method: 'PUT', path: '/p', body });
        await exchange.over;
        const sent = body instanceof Readable ? 'stream' : String(body ?? '');
        expect([exchange.status(), exchange.body().toString()]).toEqual([200, `PUT /p ${sent}`]);
        expect(exchange.headers()?.['x-host']).toBe(`127.0.0.1:${port}`);
        await nextTurn();
      }
      expect(sockets.size).toBe(1);
    } finally {
      client.close();
      server.close();
      await once(server, 'close');
    }
  });

  test('or is refused with TypeError, and nothing is connected', async () => {
    const server = await start();
    const client = createClient();
    const injected = { ...server, headers: { 'x-a': 'b\r\ncontent-length: 0' } };
    expect(() => ask(client, injected)).toThrow(TypeError);
    expect(() => ask(client, { ...server, path: '/ HTTP/1.1\r\nx: y' })).toThrow(TypeError);
    await nextTurn();
    expect(server.connections).toHaveLength(0);
  });

  test('to a name', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const exchange = ask(createClient(), { origin: `http://localhost:${server.port}` });
    await exchange.over;
    expect(exchange.body().toString()).toBe('ok');
    expect(server.requests[0]?.headers[0]).toBe(`host: localhost:${server.port}`);
  });
});

describe('a connection', () => {
  test('is used again, and not before the turn after its answer', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    const early: { exchange?: ReturnType<typeof ask> } = {};
    const first = ask(client, server, {
      onEnd: () => {
        early.exchange = ask(client, server);
      },
    });
    await first.over;
    const hasty = ask(client, server);
    await nextTurn();
    const second = ask(client, server);
    await Promise.all([second.over, hasty.over, early.exchange?.over]);
    expect([first, second].map((exchange) => exchange.body().toString())).toEqual(['1.1', '1.2']);
    expect([early.exchange?.body().toString(), hasty.body().toString()].sort()).toEqual(['2.1', '3.1']);
    await nextTurn();
    await ask(client, server).over;
    expect(server.connections).toHaveLength(3);
  });

  test.each([
    ['Connection: close', answerOf('one', 'Connection: close')],
    ['HTTP/1.0', answerOf('one').replace('/1.1', '/1.0')],
    ['no time left', answerOf('one', 'Keep-Alive: timeout=2')],
    [
      'two ways to tell the length',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n',
    ],
    ['bytes behind a body of a length', `${answerOf('one')}H`],
    ['another answer behind a body', `${answerOf('one')}${answerOf('stolen')}`],
    ['bytes behind a body in chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n0'],
  ])('is closed after an answer with %s, which is delivered', async (_name, answer) => {
    const { server, first, second } = await askTwice(answer);
    expect([first.body().toString(), second.body().toString()]).toEqual(['one', 'two']);
    await waitFor(() => server.connections.slice(0, 1).every(isGone));
  });

  test.each([204, 304])('is closed after a body behind a %i, which has none', async (status) => {
    const bodied = answerOf('stolen').replace('200 OK', `${status} x`);
    const { first, second } = await askTwice(bodied);
    expect([first.status(), first.calls.includes('onData'), second.body().toString()]).toEqual([status, false, 'two']);
  });

  test('is closed by bytes that nobody has asked for', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    await ask(client, server).over;
    await nextTurn();
    server.connections[0]?.socket.write(answerOf('stolen'));
    await waitFor(() => server.connections.every(isGone));
    const second = ask(client, server);
    await second.over;
    expect(second.body().toString()).toBe('2.1');
  });

  test('is closed by an answer that came before all bytes of the request were taken', async () => {
    const server = await start({
      onConnection: ({ socket, number }) =>
        socket.once('data', () => {
          if (number === 1) socket.pause();
          socket.write(answerOf(`${number}`));
        }),
    });
    const client = createClient();
    const first = ask(client, { ...server, method: 'POST', body: Buffer.alloc(64 * 1024 * 1024) });
    await first.over;
    await nextTurn();
    const second = ask(client, server);
    await second.over;
    expect([first.body().toString(), second.body().toString()]).toEqual(['1', '2']);
  });

  test('is closed by an answer that came before the end of a stream, which is destroyed', async () => {
    const server = await start({
      onConnection: ({ socket, number }) => socket.once('data', () => socket.write(answerOf(`${number}`))),
    });
    const client = createClient();
    const body = new PassThrough();
    body.write('start');
    const first = ask(client, { ...server, method: 'POST', body });
    await first.over;
    expect(first.calls).toEqual(['onStart', 'onHead', 'onData', 'onEnd']);
    expect([first.body().toString(), body.destroyed]).toEqual(['1', true]);
    await nextTurn();
    const second = ask(client, server);
    await second.over;
    expect(second.body().toString()).toBe('2');
  });

  test.each(['destroy', 'resetAndDestroy'] as const)(
    'that is old, and that the server has just closed (%s), is not sent the next request',
    async (close) => {
      const server = await start({ onRequest: answerByNumber() });
      const client = createClient();
      await ask(client, server).over;
      await nextTurn();
      server.connections[0]?.socket[close]();
      const second = askLater(client, server);
      await second.over;
      expect(second.body().toString()).toBe('2.1');
    },
  );

  test('that is old and open is used again', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    await ask(client, server).over;
    await nextTurn();
    const second = askLater(client, server);
    await second.over;
    expect(second.body().toString()).toBe('1.2');
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'that the server closes while it is idle (%s) does not fail the next request',
    async (close) => {
      const server = await start({ onRequest: answerByNumber() });
      const client = createClient();
      await ask(client, server).over;
      await nextTurn();
      server.connections[0]?.socket[close]();
      await nextTurn();
      const second = ask(client, server);
      await second.over;
      expect(second.body().toString()).toBe('2.1');
    },
  );

  test.each([
    ['the client allows', { keepAliveMs: 1 }, answerOf('x')],
    ['the client allows at most', { keepAliveMsMax: 1 }, answerOf('x', 'Keep-Alive: timeout=60')],
  ])('is not used after being idle for as long as %s', async (_name, options, answer) => {
    const server = await start({ onRequest: () => answer });
    const client = createClient(options);
    await ask(client, server).over;
    await nextTurn();
    const idleFromMs = performance.now();
    await waitFor(() => performance.now() > idleFromMs + 1);
    await ask(client, server).over;
    expect(server.connections).toHaveLength(2);
    await waitFor(() => server.connections.slice(0, 1).every(isGone));
  });

  test('that nobody needs is closed', async () => {
    const server = await start({ onRequest: () => answerOf('x') });
    await ask(createClient({ keepAliveMs: 1 }), server).over;
    await waitFor(() => server.connections.every(isGone));
  });
});

describe('a connection that cannot be made is told without a start', () => {
  test('where nobody listens', async () => {
    const exchange = ask(createClient(), { origin: `http://127.0.0.1:${await freePort()}` });
    await exchange.over;
    expect(exchange.calls).toEqual(['onError']);
    expect(exchange.error()).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('where it takes too long', async () => {
    // It takes the connection and never says anything, so that the handshake does not end.
    const server = await start();
    const exchange = ask(createClient({ connectTimeoutMs: 20 }), { origin: `https://127.0.0.1:${server.port}` });
    await exchange.over;
    expect([exchange.calls, exchange.error()?.message]).toEqual([['onError'], 'no connection in time']);
    await waitFor(() => server.connections.every(isGone));
  });
});

describe('with as many connections as there may be', () => {
  test('others wait and are served in order, and those that are given up meanwhile cost none', async () => {
    const server = await start({ onRequest: ({ line }) => answerOf(line) });
    const client = createClient({ connectionsMax: 1 });
    const all = [1, 2, 3, 4, 5].map((number) =>
      ask(client, { ...server, path: `/${number}` }, number % 2 === 0 ? { onStart: () => false } : {}),
    );
    await Promise.all(all.map(({ over }) => over));
    expect(server.requests.map(({ line }) => line)).toEqual(['GET /1 HTTP/1.1', 'GET /3 HTTP/1.1', 'GET /5 HTTP/1.1']);
    expect(all[1]?.calls).toEqual(['onStart', 'onError']);
    expect(server.connections).toHaveLength(1);
  });

  test('any number may be given up, and more than may wait are refused', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const client = createClient({ connectionsMax: 1 });
    const first = ask(client, server);
    const givenUp = Array.from({ length: 9_999 }, () => ask(client, server, { onStart: () => false }));
    const last = ask(client, server);
    const refused = ask(client, server);
    expect(refused.calls).toEqual(['onError']);
    await last.over;
    expect([first, last].map((exchange) => exchange.body().toString())).toEqual(['ok', 'ok']);
    expect(givenUp.every(({ error }) => error()?.message === 'the request was given up')).toBe(true);
    expect(server.connections).toHaveLength(1);
  });

  test('those that wait get a new one for one that is lost', async () => {
    const server = await start({
      onRequest: (_request, { number, socket }) => {
        if (number > 1) return answerOf(`${number}`);
        socket.destroy();
        return undefined;
      },
    });
    const client = createClient({ connectionsMax: 1 });
    const [first, second] = [ask(client, server), ask(client, server)];
    await Promise.all([first.over, second.over]);
    expect([first.error() === undefined, second.body().toString()]).toEqual([false, '2']);
  });

  test('all that wait are told where none can be made', async () => {
    const client = createClient({ connectionsMax: 1 });
    const origin = `http://127.0.0.1:${await freePort()}`;
    const all = [1, 2, 3].map(() => ask(client, { origin }));
    await Promise.all(all.map(({ over }) => over));
    expect(all.map(({ calls }) => calls)).toEqual([['onError'], ['onError'], ['onError']]);
  });

  test('one that is given up while its connection is made leaves that to the next one', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    await ask(client, server, { onStart: () => false }).over;
    const second = ask(client, server);
    await second.over;
    expect([second.body().toString(), server.connections.length]).toEqual(['1.1', 1]);
  });
});

describe('a body that breaks off', () => {
  test('is told with its error, and the server never gets an end', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const body = new PassThrough();
    body.write('start');
    const exchange = ask(createClient(), { ...server, method: 'POST', body });
    await waitFor(() => server.connections[0]?.pending().includes('start'));
    body.destroy(new Error('the caller left'));
    await exchange.over;
    expect([exchange.error()?.message, exchange.calls]).toEqual(['the caller left', ['onStart', 'onError']]);
    await waitFor(() => server.connections.every(isGone));
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    ['with an error', new Error('the caller left'), 'the caller left'],
    ['without one', undefined, 'the body of a request broke off'],
  ])(
    'before there is a connection, %s, is told at once, and the next request gets that',
    async (_name, error, message) => {
      const server = await start({ onRequest: answerByNumber() });
      const client = createClient();
      const body = new PassThrough();
      body.on('error', () => {});
      const exchange = ask(client, { ...server, method: 'POST', body });
      body.destroy(error);
      await exchange.over;
      expect([exchange.error()?.message, exchange.calls]).toEqual([message, ['onStart', 'onError']]);
      const second = ask(client, server);
      await second.over;
      expect(second.body().toString()).toBe('1.1');
    },
  );

  test('in the moment in which the connection is lost is an error that is told once', async () => {
    const server = await start();
    const body = new PassThrough();
    const exchange = ask(createClient(), { ...server, method: 'POST', body });
    await waitFor(() => exchange.calls.includes('onStart'));
    body.destroy(new Error('the caller left'));
    exchange.control().abort(new Error('no longer wanted'));
    await exchange.over;
    expect(exchange.error()?.message).toBe('no longer wanted');
  });
});

describe('closing the client', () => {
  test('ends what is being connected, sent or answered, what waits, and what comes later', async () => {
    const server = await start({ onRequest: () => 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhe' });
    const client = createClient({ connectionsMax: 2 });
    const answered = ask(client, server);
    await waitFor(() => answered.body().length === 2);
    const connecting = ask(client, server);
    const waiting = ask(client, server);
    client.close();
    const later = ask(client, server);
    await Promise.all([answered, connecting, waiting, later].map(({ over }) => over));
    expect(answered.calls).toEqual(['onStart', 'onSent', 'onHead', 'onData', 'onError']);
    expect([connecting, waiting, later].map(({ calls }) => calls)).toEqual([['onError'], ['onError'], ['onError']]);
    await waitFor(() => server.connections.every(isGone));
    expect(server.requests).toHaveLength(1);
  });

  test('ends idle connections', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const client = createClient();
    await ask(client, server).over;
    await nextTurn();
    client.close();
    await waitFor(() => server.connections.every(isGone));
  });
});
