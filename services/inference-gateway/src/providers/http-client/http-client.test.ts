import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { freePort, waitFor } from '@svc/testing';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, httpStand, nextTurn } from '../../../test/support/http-stand.ts';
import type { RawConnection } from '../../../test/support/raw-http-server.ts';

const { server: start, client: createClient, ask } = httpStand();

/** Returns pseudorandom bytes, so that lost or reordered bytes show. */
const bytesOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7) & 0xff;
  return bytes;
};
const isGone = ({ socket }: RawConnection): boolean => socket.destroyed;
/** Answers with the number of the connection and of the request. */
const answerByNumber = () => {
  const served = new Map<number, number>();
  return (_request: unknown, { number }: RawConnection): string => {
    served.set(number, (served.get(number) ?? 0) + 1);
    return answerOf(`${number}.${served.get(number)}`);
  };
};

/** Like `ask`, after idle connections have been idle for more than a second. */
const askLater: typeof ask = (...asked) => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_500);
  const asking = ask(...asked);
  clock.mockRestore();
  return asking;
};

/** Sends two requests to a server that sends this on its first connection and `two` on others. */
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

describe('RFC 9112 §3 and §6: a request arrives unchanged', () => {
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

  test('with a stream, at the speed of the server', async () => {
    const server = await start({ onConnection: ({ socket }) => socket.pause() });
    let given = 0;
    const source = function* () {
      for (; given < 256; given += 1) yield large.subarray(0, 64 * 1024);
    };
    const body = Readable.from(source(), { highWaterMark: 1 });
    const exchange = ask(createClient(), { ...server, method: 'POST', body });
    await waitFor(() => body.isPaused());
    const before = given;
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

  test('with a stream, whose pieces are freed once sent unless they share memory', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const pieces = [bytesOf(70_000), bytesOf(1), bytesOf(70_000).subarray(1), bytesOf(70_000)];
    const exchange = ask(createClient(), { ...server, method: 'POST', body: Readable.from(pieces) });
    await exchange.over;
    const sent = [bytesOf(70_000), bytesOf(1), bytesOf(70_000).subarray(1), bytesOf(70_000)];
    expect(Buffer.from(server.requests[0]?.body ?? '', 'latin1').equals(Buffer.concat(sent))).toBe(true);
    expect(pieces.map(({ length }) => length)).toEqual([0, 0, 69_999, 0]);
  });

  test('as parsed by node:http, on one connection', async () => {
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

  test('or throws TypeError without connecting', async () => {
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
  test('is reused from the turn after its response', async () => {
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
    ['two framings', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n'],
    ['bytes after a body with a length', `${answerOf('one')}H`],
    ['another response after a body', `${answerOf('one')}${answerOf('stolen')}`],
    ['bytes after a chunked body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n0'],
  ])('is closed after a response with %s, which is delivered', async (_name, answer) => {
    const { server, first, second } = await askTwice(answer);
    expect([first.body().toString(), second.body().toString()]).toEqual(['one', 'two']);
    await waitFor(() => server.connections.slice(0, 1).every(isGone));
  });

  test.each([204, 304])('is closed after a %i with a body, which it must not have', async (status) => {
    const bodied = answerOf('stolen').replace('200 OK', `${status} x`);
    const { first, second } = await askTwice(bodied);
    expect([first.status(), first.calls.includes('onData'), second.body().toString()]).toEqual([status, false, 'two']);
  });

  test('is closed by unsolicited bytes', async () => {
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

  test('is closed by a response that precedes the end of the request', async () => {
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

  test('is closed by a response that precedes the end of a stream, which is destroyed', async () => {
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
    'that is old and was just closed by the server (%s) gets no request',
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

  test('that is old and open is reused', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    await ask(client, server).over;
    await nextTurn();
    const second = askLater(client, server);
    await second.over;
    expect(second.body().toString()).toBe('1.2');
  });

  test.each(['end', 'resetAndDestroy'] as const)(
    'that the server closes while idle (%s) does not fail the next request',
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
  ])('is not reused after the idle time that %s', async (_name, options, answer) => {
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

  test('that stays idle is closed', async () => {
    const server = await start({ onRequest: () => answerOf('x') });
    await ask(createClient({ keepAliveMs: 1 }), server).over;
    await waitFor(() => server.connections.every(isGone));
  });
});

describe('a failed connection attempt calls onError without onStart', () => {
  test('if the port is closed', async () => {
    const exchange = ask(createClient(), { origin: `http://127.0.0.1:${await freePort()}` });
    await exchange.over;
    expect(exchange.calls).toEqual(['onError']);
    expect(exchange.error()).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('if it times out', async () => {
    // Accepts the connection but sends nothing, so that the handshake never ends.
    const server = await start();
    const exchange = ask(createClient({ connectTimeoutMs: 20 }), { origin: `https://127.0.0.1:${server.port}` });
    await exchange.over;
    expect([exchange.calls, exchange.error()?.message]).toEqual([['onError'], 'connection timeout']);
    await waitFor(() => server.connections.every(isGone));
  });
});

describe('at the connection limit', () => {
  test('requests wait, are served in order, and use no connection if cancelled', async () => {
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

  test('any number of requests may be cancelled, and requests beyond the queue limit are refused', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const client = createClient({ connectionsMax: 1 });
    const first = ask(client, server);
    const givenUp = Array.from({ length: 9_999 }, () => ask(client, server, { onStart: () => false }));
    const last = ask(client, server);
    const refused = ask(client, server);
    expect(refused.calls).toEqual(['onError']);
    await last.over;
    expect([first, last].map((exchange) => exchange.body().toString())).toEqual(['ok', 'ok']);
    expect(givenUp.every(({ error }) => error()?.message === 'the request was cancelled')).toBe(true);
    expect(server.connections).toHaveLength(1);
  });

  test('waiting requests get a new connection for a lost one', async () => {
    const server = await start({
      onRequest: (_request, { number, socket }) => {
        if (number > 1) return answerOf(`${number}`);
        socket.destroy();
        return undefined;
      },
    });
    const client = createClient({ connectionsMax: 1 });
    const first = ask(client, server);
    const second = ask(client, server);
    await Promise.all([first.over, second.over]);
    expect([first.error() === undefined, second.body().toString()]).toEqual([false, '2']);
  });

  test('all waiting requests fail if no connection can be made', async () => {
    const client = createClient({ connectionsMax: 1 });
    const origin = `http://127.0.0.1:${await freePort()}`;
    const all = [1, 2, 3].map(() => ask(client, { origin }));
    await Promise.all(all.map(({ over }) => over));
    expect(all.map(({ calls }) => calls)).toEqual([['onError'], ['onError'], ['onError']]);
  });

  test('a request cancelled while connecting leaves its connection to the next one', async () => {
    const server = await start({ onRequest: answerByNumber() });
    const client = createClient();
    await ask(client, server, { onStart: () => false }).over;
    const second = ask(client, server);
    await second.over;
    expect([second.body().toString(), server.connections.length]).toEqual(['1.1', 1]);
  });
});

describe('an interrupted request body', () => {
  test('fails with its error, and the server receives no end', async () => {
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
    ['without one', undefined, 'the request body was interrupted'],
  ])(
    'fails at once if it happens before the connection is made, %s, and the next request gets the connection',
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

  test('fails once if the connection is lost at the same time', async () => {
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
  test('ends connecting, active and waiting requests, and refuses later ones', async () => {
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
