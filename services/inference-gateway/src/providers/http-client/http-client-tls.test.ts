import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { getCACertificates, setDefaultCACertificates, TLSSocket } from 'node:tls';
import { createTestAuthority, type Identity, type TestAuthority, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerOf, httpStand, nextTurn } from '../../../test/support/http-stand.ts';
import type { RawConnection } from '../../../test/support/raw-http-server.ts';

const { server: start, client: createClient, ask } = httpStand();
const usual = getCACertificates('default');

let trusted: TestAuthority;
let stranger: TestAuthority;
let identity: Identity;

beforeAll(async () => {
  [trusted, stranger] = await Promise.all([createTestAuthority(), createTestAuthority()]);
  identity = await trusted.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
  setDefaultCACertificates([...usual, readFileSync(trusted.caFile, 'utf8')]);
});

afterAll(() => {
  setDefaultCACertificates(usual);
  trusted.remove();
  stranger.remove();
});

/** Records the handshakes that a server sees. */
const handshakes = () => {
  const seen: { name: unknown; protocol: unknown; isResumed: boolean }[] = [];
  const onConnection = ({ socket }: RawConnection): void => {
    if (!(socket instanceof TLSSocket)) throw new Error('the server does not speak TLS');
    // The property is documented but missing in the types.
    seen.push({
      name: Reflect.get(socket, 'servername'),
      protocol: socket.alpnProtocol,
      isResumed: socket.isSessionReused(),
    });
  };
  return { seen, onConnection };
};

describe('over TLS', () => {
  test('sends the host name in SNI and reuses the connection', async () => {
    const { seen, onConnection } = handshakes();
    const server = await start({ identity, onConnection, onRequest: ({ line }) => answerOf(line) });
    const client = createClient();
    const origin = `https://localhost:${server.port}`;
    for (const path of ['/one', '/two']) {
      const exchange = ask(client, { origin, path });
      await exchange.over;
      expect(exchange.body().toString()).toBe(`GET ${path} HTTP/1.1`);
      await nextTurn();
    }
    expect(seen).toEqual([{ name: 'localhost', protocol: 'http/1.1', isResumed: false }]);
  });

  test('sends no SNI for an IP address', async () => {
    const { seen, onConnection } = handshakes();
    const server = await start({ identity, onConnection, onRequest: () => answerOf('ok') });
    const exchange = ask(createClient(), server);
    await exchange.over;
    expect(exchange.body().toString()).toBe('ok');
    expect(seen).toMatchObject([{ name: false }]);
  });

  test('transfers bodies of any size completely in both directions', async () => {
    const body = Array.from({ length: 100_000 }, (_, index) => `${index} `).join('');
    const server = await start({ identity, onRequest: (request) => answerOf(request.body) });
    const client = createClient();
    for (const sent of [body, Buffer.from(body)]) {
      const exchange = ask(client, { ...server, method: 'POST', body: sent });
      await exchange.over;
      expect(exchange.body().toString() === body).toBe(true);
      await nextTurn();
    }
    expect(server.connections).toHaveLength(1);
  });

  test('applies backpressure to the server while paused and loses nothing', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024, 'abcdefghijk').toString('latin1');
    const server = await start({ identity, onRequest: () => answerOf(body) });
    const exchange = ask(createClient(), server, { onHead: () => exchange.control().pause() });
    await waitFor(() => exchange.calls.includes('onHead'));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    const bytes = exchange.bytes();
    // A read is decrypted as a whole, even after a pause.
    expect(bytes).toBeLessThan(256 * 1024);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(exchange.bytes()).toBe(bytes);
    exchange.control().resume();
    await exchange.over;
    expect(exchange.body().toString('latin1') === body).toBe(true);
  });

  test('aborts an exchange in the middle of decrypted data', async () => {
    const server = await start({ identity, onRequest: () => answerOf('x'.repeat(1024 * 1024)) });
    const exchange = ask(createClient(), server, {
      onData: () => exchange.control().abort(new Error('no longer wanted')),
    });
    await exchange.over;
    expect(exchange.calls).toEqual(['onStart', 'onSent', 'onHead', 'onData', 'onError']);
    await waitFor(() => server.connections.every(({ socket }) => socket.destroyed));
  });

  test('resumes the session on the next connection to the same origin', async () => {
    const { seen, onConnection } = handshakes();
    const server = await start({ identity, onConnection, onRequest: () => answerOf('ok', 'connection: close') });
    const client = createClient();
    for (let count = 0; count < 2; count += 1) {
      await ask(client, server).over;
      await waitFor(() => server.connections.every(({ socket }) => socket.destroyed));
    }
    expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true]);
  });

  test('drops the session of a failed connection, which it may have caused', async () => {
    const { seen, onConnection } = handshakes();
    const server = await start({ identity, onConnection, onRequest: () => answerOf('ok', 'connection: close') });
    const relay = await start({
      onConnection: ({ number, socket }) => {
        if (number === 2) socket.resetAndDestroy();
        else socket.pipe(connect(server.port, '127.0.0.1').on('error', () => {})).pipe(socket);
      },
    });
    const origin = `https://127.0.0.1:${relay.port}`;
    const client = createClient();
    const ends: (string | undefined)[] = [];
    for (let count = 0; count < 3; count += 1) {
      const exchange = ask(client, { origin });
      await exchange.over;
      ends.push(exchange.calls.at(-1));
    }
    expect(ends).toEqual(['onEnd', 'onError', 'onEnd']);
    // The second connection failed before it reached the server.
    expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, false]);
  });
});

describe('over TLS, nothing is sent to a server', () => {
  test.each([
    ['with an untrusted certificate', () => stranger.issue({ addresses: ['127.0.0.1'] }), 'CERT_SIGNATURE_FAILURE'],
    [
      'with a certificate for another name',
      () => trusted.issue({ names: ['elsewhere.test'] }),
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'with an expired certificate',
      () => trusted.issue({ addresses: ['127.0.0.1'], expired: true }),
      'CERT_HAS_EXPIRED',
    ],
  ])('%s, also on the second request', async (_name, issue, code) => {
    const server = await start({ identity: await issue(), onRequest: () => answerOf('ok') });
    const client = createClient();
    for (let count = 0; count < 2; count += 1) {
      const exchange = ask(client, { ...server, headers: { authorization: 'Bearer secret' } });
      await exchange.over;
      expect(exchange.calls).toEqual(['onError']);
      expect(exchange.error()).toMatchObject({ code });
    }
    expect(server.requests).toHaveLength(0);
  });

  test('that does not speak TLS', async () => {
    const server = await start({ onConnection: ({ socket }) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') });
    const exchange = ask(createClient(), { origin: `https://127.0.0.1:${server.port}` });
    await exchange.over;
    expect(exchange.calls).toEqual(['onError']);
  });

  test('that closes the connection during the handshake', async () => {
    const server = await start({ onConnection: ({ socket }) => socket.end() });
    const exchange = ask(createClient(), { origin: `https://127.0.0.1:${server.port}` });
    await exchange.over;
    expect(exchange.calls).toEqual(['onError']);
  });
});
