import { freePort, waitFor } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import { answerOf, httpStand, nextTurn } from '../../../test/support/http-stand.ts';
import type { RawConnection } from '../../../test/support/raw-http-server.ts';
import type { HttpControl } from './http-exchange.ts';
import { BadResponseError } from './response-head.ts';

const { server: start, client: createClient, ask } = httpStand();

const isGone = ({ socket }: RawConnection): boolean => socket.destroyed;
/** Sends a part so that the client reads it separately. */
const sendApart = async ({ socket }: RawConnection, part: string): Promise<void> => {
  await nextTurn();
  await nextTurn();
  socket.write(part, 'latin1');
};

describe('an answer', () => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
  const final =
    'HTTP/1.1 201 Created\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\n\r\n';

  test('is read the same wherever its bytes are cut, without interim responses', async () => {
    const answer = `${interim}${final}`;
    let cut = 0;
    const server = await start({
      onRequest: (_request, connection) => {
        void sendApart(connection, answer.slice(cut));
        return answer.slice(0, cut);
      },
    });
    const client = createClient();
    for (cut = 1; cut < answer.length; cut += 1) {
      const exchange = ask(client, server);
      await exchange.over;
      expect(exchange.calls).toEqual(['onStart', 'onSent', 'onHead', 'onData', 'onEnd']);
      expect([exchange.status(), exchange.headers()?.['x-a']]).toEqual([201, 'b']);
      expect([exchange.headers()?.['link'], exchange.body().toString()]).toEqual([undefined, 'hello']);
      await nextTurn();
    }
    expect(server.connections).toHaveLength(1);
  });

  test('ends its connection if too many interim responses come before it', async () => {
    const server = await start({ onRequest: () => 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17) });
    const exchange = ask(createClient(), server);
    await exchange.over;
    expect(exchange.calls).toEqual(['onStart', 'onSent', 'onError']);
    expect(exchange.error()).toBeInstanceOf(BadResponseError);
  });

  test('takes at most two reads per turn of the event loop at any speed', async () => {
    const server = await start({ onRequest: () => answerOf('x'.repeat(16 * 1024 * 1024)) });
    const bytesOfTurns = [0];
    const countTurns = (): void => {
      bytesOfTurns.push(0);
      if (!exchange.isOver()) setImmediate(countTurns);
    };
    const exchange = ask(createClient(), server, {
      onHead: countTurns,
      onData: (piece) => {
        bytesOfTurns[bytesOfTurns.length - 1] = (bytesOfTurns.at(-1) ?? 0) + piece.length;
      },
    });
    await exchange.over;
    expect(exchange.bytes()).toBe(16 * 1024 * 1024);
    expect(Math.max(...bytesOfTurns)).toBeLessThanOrEqual(128 * 1024);
  });

  test('does not mix with the bytes of another connection', async () => {
    const server = await start();
    const client = createClient();
    const exchanges = [ask(client, server), ask(client, server)];
    await waitFor(() => server.connections.length === 2 && server.connections.every(({ pending }) => pending() !== ''));
    const bodies = server.connections.map(({ number }) => `${number}`.repeat(100));
    const answers = [
      answerOf(bodies[0] ?? ''),
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\n${bodies[1]}\r\n0\r\n\r\n`,
    ];
    for (let at = 0; at < Math.max(...answers.map(({ length }) => length)); at += 1) {
      await nextTurn();
      for (const [index, { socket }] of server.connections.entries())
        socket.write(answers[index]?.slice(at, at + 1) ?? '');
    }
    await Promise.all(exchanges.map(({ over }) => over));
    expect(exchanges.map((exchange) => exchange.body().toString()).sort()).toEqual(bodies);
  });

  test('is delivered in pieces that later reads do not overwrite', async () => {
    const body = Array.from({ length: 300_000 }, (_, index) => `${index} `).join('');
    const server = await start({ onRequest: () => answerOf(body) });
    const exchange = ask(createClient(), server);
    await exchange.over;
    expect(exchange.body().toString() === body).toBe(true);
  });

  test.each([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['no status line', 'hello\r\n\r\n'],
    ['a head that is too long', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`],
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a damaged chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n'],
  ])('with %s is refused and closes the connection', async (_name, answer) => {
    const server = await start({ onRequest: () => answer });
    const exchange = ask(createClient(), server);
    await exchange.over;
    expect(exchange.error()).toBeInstanceOf(BadResponseError);
    await waitFor(() => server.connections.every(isGone));
  });
});

describe('RFC 9112 §8: a lost connection', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const lost = ['end', 'resetAndDestroy'] as const;
  test.each(
    [
      ['before the head', '', 'onSent'],
      ['inside the head', head, 'onSent'],
      ['after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n', 'onSent'],
      ['inside a body with a length', `${head}content-length: 5\r\n\r\nhe`, 'onData'],
      ['after the head of a body with a length', `${head}content-length: 5\r\n\r\n`, 'onHead'],
      ['inside a chunk', `${head}transfer-encoding: chunked\r\n\r\n5\r\nhe`, 'onData'],
      ['between two chunks', `${head}transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n`, 'onData'],
      ['before the last line end of chunks', `${head}transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n0\r\n`, 'onData'],
    ].flatMap(([name, answer, lastCall]) => lost.map((close) => ({ name, answer, lastCall, close }))),
  )('$name ($close) is an error', async ({ answer, lastCall, close }) => {
    const server = await start({ onRequest: () => answer });
    const exchange = ask(createClient(), server);
    await waitFor(() => exchange.calls.at(-1) === lastCall && server.requests.length === 1);
    // The client reads the sent bytes before it notices the loss.
    await nextTurn();
    await nextTurn();
    server.connections[0]?.socket[close]();
    await exchange.over;
    expect(exchange.calls.slice(-2)).toEqual([lastCall, 'onError']);
  });

  test('ends a body without framing if it closes cleanly', async () => {
    const server = await start({
      onRequest: (_request, { socket }) => {
        socket.end(`${head}\r\nall of it`);
        return undefined;
      },
    });
    const exchange = ask(createClient(), server);
    await exchange.over;
    expect([exchange.calls.at(-1), exchange.body().toString()]).toEqual(['onEnd', 'all of it']);
  });

  test('is an error in a body without framing if it is reset', async () => {
    const server = await start({ onRequest: () => `${head}\r\nsome of it` });
    const exchange = ask(createClient(), server);
    await waitFor(() => exchange.calls.includes('onData'));
    server.connections[0]?.socket.resetAndDestroy();
    await exchange.over;
    expect(exchange.error()).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('pausing', () => {
  test('applies backpressure to the server and loses nothing after repeated pauses', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'abcdefghijk').toString('latin1');
    const server = await start({ onRequest: () => answerOf(body) });
    const exchange = ask(createClient(), server, { onData: () => exchange.control().pause() });
    let pauses = 0;
    while (!exchange.isOver()) {
      await waitFor(() => exchange.isOver() || exchange.calls.includes('onData'), { intervalMs: 1 });
      const bytes = exchange.bytes();
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      expect(exchange.bytes()).toBe(bytes);
      if (pauses === 0) expect(server.connections[0]?.socket.writableLength).toBeGreaterThan(0);
      pauses += 1;
      // Also within one turn.
      exchange.control().resume();
      exchange.control().pause();
      exchange.control().resume();
      await nextTurn();
      await nextTurn();
    }
    await exchange.over;
    expect(pauses).toBeGreaterThan(50);
    expect(exchange.body().toString('latin1') === body).toBe(true);
  });

  test('from the start delays the head and does not carry over to the next exchange', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const client = createClient();
    const pause = (control: HttpControl): boolean => {
      control.pause();
      return true;
    };
    const first = ask(client, server, { onStart: pause });
    await waitFor(() => server.requests.length === 1);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(first.calls).toEqual(['onStart', 'onSent']);
    first.control().resume();
    await first.over;
    await nextTurn();
    const second = ask(client, server, { onData: () => second.control().pause() });
    await second.over;
    await nextTurn();
    const third = ask(client, server);
    await third.over;
    expect([third.body().toString(), server.connections.length]).toEqual(['ok', 1]);
  });
});

describe('an aborted exchange', () => {
  test('receives the reason and its connection is closed', async () => {
    const server = await start({ onRequest: () => 'HTTP/1.1 200 OK\r\n\r\nsome' });
    const exchange = ask(createClient(), server);
    await waitFor(() => exchange.calls.includes('onData'));
    const reason = new Error('no longer wanted');
    exchange.control().abort(reason);
    expect([exchange.calls.at(-1), exchange.error()]).toEqual(['onError', reason]);
    await waitFor(() => server.connections.every(isGone));
  });

  test.each(['onStart', 'onSent', 'onHead', 'onData'] as const)(
    'receives the reason once if %s aborts',
    async (call) => {
      const server = await start({ onRequest: () => answerOf('body') });
      const reason = new Error('no longer wanted');
      const control: { of?: HttpControl } = {};
      const abort = (): void => control.of?.abort(reason);
      const exchange = ask(createClient(), server, {
        onStart: (given) => {
          control.of = given;
          if (call === 'onStart') abort();
          return true;
        },
        ...(call === 'onStart' ? {} : { [call]: abort }),
      });
      await exchange.over;
      expect([exchange.calls.slice(-2), exchange.error()]).toEqual([[call, 'onError'], reason]);
      await waitFor(() => server.connections.every(isGone));
    },
  );

  test.each(['onHead', 'onData'] as const)('receives the error that %s throws', async (call) => {
    const server = await start({ onRequest: () => answerOf('body') });
    const thrown = new Error('a fault of ours');
    const exchange = ask(createClient(), server, {
      [call]: () => {
        throw thrown;
      },
    });
    await exchange.over;
    expect([exchange.calls.slice(-2), exchange.error()]).toEqual([[call, 'onError'], thrown]);
    await waitFor(() => server.connections.every(isGone));
  });

  test('does not affect other exchanges', async () => {
    const server = await start({ onRequest: () => answerOf('ok') });
    const client = createClient();
    const failed = ask(client, { origin: `http://127.0.0.1:${await freePort()}` });
    const aborted = ask(client, server, { onHead: () => aborted.control().abort(new Error('no longer wanted')) });
    const served = ask(client, server);
    await Promise.all([failed, aborted, served].map(({ over }) => over));
    expect(served.body().toString()).toBe('ok');
  });
});
