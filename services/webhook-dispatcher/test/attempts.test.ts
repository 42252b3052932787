import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer as createTcpServer, type Server } from 'node:net';
import { createPinnedAgent, type Lookup, type PinnedAgent, parseAllowTargets } from '@svc/destinations';
import { createTestAuthority, type Identity, type TestAuthority } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AttemptDeps, type AttemptResult, sendAttempt } from '../src/deliveries/send-attempt.ts';
import { type Receiver, startReceiver } from './support/receiver.ts';
import { type SocketWatch, watchSockets } from './support/socket-watch.ts';

const NAME = 'hooks.receiver.test';
let authority: TestAuthority;
let identity: Identity;
let receiver: Receiver;
let agent: PinnedAgent;
let watch: SocketWatch;

beforeAll(async () => {
  authority = await createTestAuthority();
  identity = await authority.issue({ names: [NAME], addresses: ['127.0.0.1'] });
});
afterAll(() => authority?.remove());
beforeEach(async () => {
  receiver = await startReceiver(identity);
  agent = createPinnedAgent({ extraCaFile: authority.caFile });
  watch = watchSockets();
});
afterEach(async () => {
  vi.useRealTimers();
  watch.stop();
  agent.destroy();
  await receiver.stop();
});

const body = Buffer.from(
  JSON.stringify({
    api_version: '2026-10-01',
    event_id: 'evt_00000000000000000000000000',
    event: 'integration.test',
    integration_id: 'app_00000000000000000000000000',
    sequence: 1,
    created: 1,
    user: { svc_user_id: 'usr_00000000000000000000000000' },
    data: { message: 'x' },
  }),
);
const loopback: Lookup = async () => ['127.0.0.1'];

const send = (
  url: string,
  { lookup = loopback, targets, stopping }: { lookup?: Lookup; targets?: string[]; stopping?: AbortSignal } = {},
): Promise<AttemptResult> => {
  const allowTargets = parseAllowTargets(targets ?? [`${NAME}:${receiver.port}`, `127.0.0.1:${receiver.port}`]);
  const deps: AttemptDeps = { agent, lookup, allowTargets, clock: () => new Date() };
  const attempt = { url, secret: 'whsec_x', previous: undefined, eventId: 'evt_00000000000000000000000000', body };
  return sendAttempt(attempt, deps, stopping ?? new AbortController().signal);
};
const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};
const target = (path = '/hook?token=a') => `https://${NAME}:${receiver.port}${path}`;

describe('the connection', () => {
  test('goes to the checked address, with the name in SNI, Host and certificate', async () => {
    expect(await send(target())).toMatchObject({ isDelivered: true, statusCode: 204, error: null });
    expect(receiver.received[0]).toMatchObject({ serverName: NAME, path: '/hook?token=a' });
    expect(receiver.received[0]?.headers.host).toBe(`${NAME}:${receiver.port}`);
    expect(watch.addresses).toEqual(['127.0.0.1']);
  });

  test('resolves a name once', async () => {
    let lookups = 0;
    await send(target(), {
      lookup: async () => {
        lookups += 1;
        return lookups === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
      },
    });
    expect([lookups, ...watch.addresses]).toEqual([1, '127.0.0.1']);
  });

  test('to an IP address verifies the address in the certificate', async () => {
    expect(await send(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({ isDelivered: true });
    expect(receiver.received[0]?.serverName).toBe(false);
  });

  test('tries the next checked address if one refuses', async () => {
    expect(await send(target(), { lookup: async () => ['127.0.0.9', '127.0.0.1'] })).toMatchObject({
      isDelivered: true,
    });
    expect(watch.addresses).toEqual(['127.0.0.9', '127.0.0.1']);
  });

  test('ignores the proxy variables of the environment', async () => {
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : 'http://127.0.0.9:9';
    try {
      expect(await send(target())).toMatchObject({ isDelivered: true });
    } finally {
      for (const name of names) delete process.env[name];
    }
    expect(watch.addresses).toEqual(['127.0.0.1']);
  });

  test('is kept alive for the same addresses', async () => {
    for (let index = 0; index < 5; index += 1) await send(target());
    expect(receiver.connections()).toBe(1);
  });

  test('is not reused after the name has other addresses', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1', '127.0.0.2'], ['127.0.0.1']];
    const lookup: Lookup = async () => answers.shift() ?? [];
    for (let index = 0; index < 3; index += 1) await send(target(), { lookup });
    expect(receiver.received.map(({ connection }) => connection)).toEqual([1, 2, 1]);
  });

  test('that the receiver closed while idle costs no attempt', async () => {
    await send(target());
    receiver.closeConnections();
    expect(await send(target())).toMatchObject({ isDelivered: true });
    expect(receiver.connections()).toBe(2);
  });
});

describe('TLS', () => {
  const against = async (own: Identity, options: object = {}): Promise<AttemptResult> => {
    const other = await startReceiver(own, options);
    const result = await send(`https://${NAME}:${other.port}/`, { targets: [`${NAME}:${other.port}`] });
    expect(other.received).toEqual([]);
    await other.stop();
    return result;
  };

  test('refuses a certificate for another name', async () => {
    const own = await authority.issue({ names: ['other.receiver.test'] });
    expect(await against(own)).toMatchObject({ isDelivered: false, error: 'certificate_name_mismatch' });
  });

  test('refuses an expired certificate', async () => {
    const own = await authority.issue({ names: [NAME], expired: true });
    expect((await against(own)).error).toBe('certificate_expired');
  });

  test('refuses an unknown authority, regardless of NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const stranger = await createTestAuthority();
    const own = await stranger.issue({ names: [NAME] });
    stranger.remove();
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const result = await against(own);
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    expect(result.error).toBe('certificate_not_trusted');
  });

  test('refuses TLS 1.1', async () => {
    const options = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    expect((await against(identity, options)).error).toBe('tls_failed');
  });

  test('accepts TLS 1.2', async () => {
    const other = await startReceiver(identity, { maxVersion: 'TLSv1.2' });
    const result = await send(`https://${NAME}:${other.port}/`, { targets: [`${NAME}:${other.port}`] });
    expect([result.isDelivered, other.received[0]?.protocol]).toEqual([true, 'TLSv1.2']);
    await other.stop();
  });
});

describe('the answer', () => {
  test.each([300, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503])('%i fails', async (status) => {
    receiver.otherwise = (response) => response.writeHead(status, { location: target('/elsewhere') }).end();
    expect(await send(target())).toMatchObject({ isDelivered: false, statusCode: status, error: 'unexpected_status' });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook?token=a']);
  });

  test.each([200, 201, 202, 204, 299])('%i delivers', async (status) => {
    receiver.otherwise = status;
    expect(await send(target())).toMatchObject({ isDelivered: true, statusCode: status });
  });

  test.each([429, 503])('%i may carry Retry-After, other statuses may not', async (status) => {
    receiver.otherwise = (response) => response.writeHead(status, { 'retry-after': '7' }).end();
    expect((await send(target())).retryAfterMs).toBe(7_000);
    receiver.otherwise = (response) => response.writeHead(500, { 'retry-after': '7' }).end();
    expect((await send(target())).retryAfterMs).toBeUndefined();
  });

  test('is read to 64 KiB, then the connection is closed', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      receiver.otherwise = (response) => {
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
        };
        response.on('drain', more);
        response.once('close', resolve);
        more();
      };
    });
    expect(await send(target())).toMatchObject({ isDelivered: true, statusCode: 200 });
    await closed;
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  test('that breaks off fails', async () => {
    receiver.otherwise = (response) => {
      response.writeHead(200, { 'content-length': '100' }).write('x', () => response.destroy());
    };
    expect((await send(target())).isDelivered).toBe(false);
  });

  test('that is not TLS is reported by a fixed word', async () => {
    const tcp = createTcpServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.6\r\n'));
    const port = await listen(tcp);
    const result = await send(`https://${NAME}:${port}/`, { targets: [`${NAME}:${port}`] });
    expect(result).toMatchObject({ statusCode: null, error: 'tls_failed' });
    await new Promise((resolve) => tcp.close(resolve));
  });

  test.each([
    'hello there\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
  ])('over TLS that is not HTTP is reported by a fixed word: %#', async (text) => {
    receiver.otherwise = (response) => void response.socket?.end(text);
    expect(await send(target())).toMatchObject({ isDelivered: false, statusCode: null, error: 'answer_not_http' });
  });

  test('times out after 10 s in total, including the look-up and a body that does not end, and keeps the status', async () => {
    const arrived = Promise.withResolvers<void>();
    receiver.otherwise = (response) => {
      response.writeHead(200).write('x', () => arrived.resolve());
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const slowly: Lookup = () => new Promise((resolve) => setTimeout(resolve, 3_000, ['127.0.0.1']));
    const sending = send(target(), { lookup: slowly });
    vi.advanceTimersByTime(3_000);
    await arrived.promise;
    // The bytes are in the kernel; a few turns of the event loop read them.
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(7_000);
    expect(await sending).toMatchObject({
      isDelivered: false,
      statusCode: 200,
      error: 'timeout_in_body',
      durationMs: 10_000,
    });
  });

  test('times out if the TLS handshake does not end, and closes the connection', async () => {
    const greeted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const tcp = createTcpServer((socket) => {
      socket.once('data', () => greeted.resolve()).once('close', () => closed.resolve());
    });
    const port = await listen(tcp);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const sending = send(`https://${NAME}:${port}/`, { targets: [`${NAME}:${port}`] });
    await greeted.promise;
    vi.advanceTimersByTime(10_000);
    expect(await sending).toMatchObject({ isDelivered: false, statusCode: null, error: 'timeout', durationMs: 10_000 });
    await closed.promise;
    await new Promise((resolve) => tcp.close(resolve));
  });

  test('of no server is reported by a fixed word', async () => {
    await receiver.stop();
    expect(await send(target())).toMatchObject({ statusCode: null, error: 'connection_refused' });
  });
});

describe('a stopping process', () => {
  test('aborts an attempt without a result', async () => {
    receiver.otherwise = () => undefined;
    const stopping = new AbortController();
    setTimeout(() => stopping.abort(), 100);
    await expect(send(target(), { stopping: stopping.signal })).rejects.toThrow();
  });
});

describe('no socket is opened to an address that is not public', () => {
  const vectors: { url: string; expect: string; why: string; resolves_to?: string[] | string[][] }[] = JSON.parse(
    readFileSync(createRequire(import.meta.url).resolve('@svc/destinations/ssrf-vectors.json'), 'utf8'),
  );

  test('for any refused destination of the published vectors', async () => {
    for (const vector of vectors.filter((each) => each.expect === 'reject')) {
      const lists = vector.resolves_to ?? [[]];
      const last = lists.at(-1);
      const answers = Array.isArray(last) ? last : lists.flat();
      const result = await send(vector.url, { lookup: async () => [...answers] });
      expect(result.isDelivered, vector.why).toBe(false);
    }
    expect(watch.addresses).toEqual([]);
  });

  test('if the name becomes private between configuration and attempt', async () => {
    for (const address of ['127.0.0.1', '::1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00:ec2::254']) {
      const lookup: Lookup = async () => ['104.18.32.7', address];
      expect(await send(target(), { lookup, targets: [] })).toMatchObject({
        error: 'no_public_address',
        statusCode: null,
      });
    }
    expect([watch.addresses, receiver.received]).toEqual([[], []]);
  });

  test('if a receiver redirects to one', async () => {
    receiver.otherwise = (response) => response.writeHead(307, { location: 'https://127.0.0.2:9443/' }).end();
    await send(target());
    expect(watch.addresses).toEqual(['127.0.0.1']);
  });
});
