import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { newId } from '@svc/contracts';
import { captureLogs, waitFor } from '@svc/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import {
  AppError,
  type ChannelCall,
  createLineChannel,
  createLineClient,
  createMetrics,
  type LineClient,
  type Listener,
  listen,
} from '../src/index.ts';

const TOKEN = 'inference-gateway:a-service-credential-for-tests';
const CHANNEL = { path: '/internal/echo', protocol: 'svc-echo', operationId: 'echo' } as const;
const question = z.object({ request_id: z.string(), traceparent: z.string().optional(), words: z.array(z.string()) });
const readQuestion = (value: unknown) => question.parse(value);
type Call = ChannelCall<z.output<typeof question>>;

const echo = async ({ question: { words }, write }: Call): Promise<void> =>
  write(words.map((word) => `${JSON.stringify(word)}\n`).join(''));

let stop: (() => Promise<void>)[] = [];
afterEach(async () => {
  const stopping = stop;
  stop = [];
  for (const one of stopping.reverse()) await one();
});

/** A server with a channel that answers each word of a call with a line. */
const serve = async (answer: (call: Call) => Promise<void> = echo) => {
  const logs = captureLogs();
  const metrics = createMetrics('billing', { isOfProcess: false });
  const channel = createLineChannel({
    ...CHANNEL,
    readQuestion,
    answer,
    tokens: [TOKEN],
    logger: logs.logger,
    metrics,
  });
  const listener = await listen((_req, res) => res.writeHead(404).end(), { host: '127.0.0.1', port: 0, channel });
  stop.push(async () => void (await listener.drain(0)));
  return { listener, logs, metrics };
};

const clientOf = (listener: Pick<Listener, 'url'>, token = TOKEN): LineClient => {
  const client = createLineClient({ ...CHANNEL, baseUrl: listener.url, token });
  stop.push(async () => client.close());
  return client;
};

const say = async (client: LineClient, words: string[], timeoutMs = 5_000): Promise<string[]> => {
  const lines: string[] = [];
  const line = JSON.stringify({ request_id: newId('req'), words });
  await client.ask({ line, timeoutMs, onLine: (answer) => lines.push(answer) === words.length });
  return lines.map((answer) => JSON.parse(answer));
};

/** Stands before a server, and counts who comes. */
const openDoor = async ({ port }: Pick<Listener, 'port'>) => {
  let connections = 0;
  const door = createServer((from) => {
    connections += 1;
    const to = connect(port, '127.0.0.1');
    for (const socket of [from, to]) socket.on('error', () => {});
    from.pipe(to).pipe(from);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  stop.push(async () => void door.close());
  const address = door.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  return { url, connections: () => connections };
};

/** A bare connection that has asked for the channel, and what it reads. */
const upgrade = async ({ port }: Pick<Listener, 'port'>): Promise<{ socket: Socket; text: () => string }> => {
  const socket = connect(port, '127.0.0.1');
  stop.push(async () => void socket.destroy());
  let text = '';
  socket.on('data', (piece) => {
    text += piece.toString();
  });
  const head = `GET ${CHANNEL.path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${CHANNEL.protocol}\r\n`;
  socket.write(`${head}authorization: Bearer ${TOKEN}\r\n\r\n`);
  await waitFor(() => text.endsWith('\r\n\r\n'));
  expect(text).toMatch(/^HTTP\/1\.1 101 /);
  text = '';
  return { socket, text: () => text };
};

describe('a channel', () => {
  test('answers one call after the other on one connection', async () => {
    const { listener } = await serve();
    const door = await openDoor(listener);
    const client = clientOf(door);
    for (const word of ['one', 'two', 'three']) expect(await say(client, [word])).toEqual([word]);
    expect(door.connections()).toBe(1);
    expect((await Promise.all([say(client, ['a', 'b']), say(client, ['c'])])).flat()).toEqual(['a', 'b', 'c']);
    expect(door.connections()).toBe(2);
  });

  test('is opened anew after a minute, where a replica may be that was not there before', async () => {
    const { listener } = await serve();
    const door = await openDoor(listener);
    const client = clientOf(door);
    await say(client, ['one']);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await say(client, ['two'])).toEqual(['two']);
    expect(door.connections()).toBe(2);
  });

  test('reads calls wherever the reads end, also within a character', async () => {
    const { listener } = await serve();
    const { socket, text } = await upgrade(listener);
    const call = `${JSON.stringify({ request_id: newId('req'), words: ['h\u00e9', '\u{1f600}'] })}\n`;
    socket.setNoDelay(true);
    for (const byte of Buffer.from(call)) {
      socket.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await waitFor(() => text() === '"h\u00e9"\n"\u{1f600}"\n');
    socket.write(call + call);
    await waitFor(() => text().split('\n').length === 7);
  });

  test('refuses a call while 256 are under way, and takes the next one when one of them has ended', async () => {
    const ends: (() => void)[] = [];
    const { listener } = await serve(async (call) => {
      if (call.question.words[0] === 'wait') await new Promise<void>((resolve) => ends.push(resolve));
      await echo(call);
    });
    const client = clientOf(listener);
    const waiting = Array.from({ length: 256 }, () => say(client, ['wait']));
    await waitFor(() => ends.length === 256);
    await expect(say(client, ['too many'])).rejects.toThrow('too many calls are under way');
    ends[0]?.();
    await Promise.race(waiting);
    expect(await say(client, ['now'])).toEqual(['now']);
    for (const end of ends) end();
    expect(await Promise.all(waiting)).toHaveLength(256);
  });

  test('tells of each call in a log line and a metric', async () => {
    const { listener, logs, metrics } = await serve();
    await say(clientOf(listener), ['one']);
    const entry = await waitFor(() => logs.entries.find(({ message }) => message === 'request'));
    expect(entry.fields).toMatchObject({ operation: 'echo', route: CHANNEL.path, status: 200, caller: 'service' });
    const { body } = await metrics.render();
    expect(body).toContain('http_requests_total{operation="echo",method="other",status="200",service="billing"} 1');
  });

  test('tells the code of an error, and serves the next call', async () => {
    const { listener, logs, metrics } = await serve(async (call) => {
      if (call.question.words.includes('fail')) throw new AppError('service_unavailable');
      await echo(call);
    });
    const client = clientOf(listener);
    expect(await say(client, ['fail'])).toEqual([{ error: 'service_unavailable' }]);
    expect(await say(client, ['go on'])).toEqual(['go on']);
    const statuses = logs.entries.filter(({ message }) => message === 'request').map(({ fields }) => fields['status']);
    expect(statuses).toEqual([503, 200]);
    expect((await metrics.render()).body).toContain('operation="echo",method="other",status="503"');
  });

  test('writes nothing of a call that is over, which would be read as an answer to the next one', async () => {
    let before: Call | undefined;
    const { listener } = await serve(async (call) => {
      before?.write('"late"\n');
      expect(before?.isOpen() ?? false).toBe(false);
      before = call;
      await echo(call);
    });
    const client = clientOf(listener);
    expect(await say(client, ['one'])).toEqual(['one']);
    expect(await say(client, ['two', 'three'])).toEqual(['two', 'three']);
  });

  test('notices a caller that leaves', async () => {
    let isOpen: (() => boolean) | undefined;
    const over = Promise.withResolvers<void>();
    const { listener, logs } = await serve(async (call) => {
      isOpen = call.isOpen;
      await over.promise;
    });
    const { socket } = await upgrade(listener);
    socket.write(`${JSON.stringify({ request_id: newId('req'), words: [] })}\n`);
    await waitFor(() => isOpen !== undefined);
    expect(isOpen?.()).toBe(true);
    socket.resetAndDestroy();
    await waitFor(() => isOpen?.() === false);
    over.resolve();
    const entry = await waitFor(() => logs.entries.find(({ message }) => message === 'request'));
    expect(entry.fields).toMatchObject({ status: 499 });
  });
});

describe('a channel is not opened', () => {
  test('without the credential', async () => {
    const { listener, logs } = await serve();
    await expect(say(clientOf(listener, 'another'), ['one'])).rejects.toMatchObject({ status: 401 });
    expect(logs.entries.at(-1)).toMatchObject({ message: 'request', fields: { operation: 'echo', status: 401 } });
  });

  test.each([
    ['at another path', { path: '/internal/other' }],
    ['for another protocol', { protocol: 'h2c' }],
  ])('%s: the request is answered as if it asked for none', async (_name, changes) => {
    const { listener } = await serve();
    const client = createLineClient({ ...CHANNEL, ...changes, baseUrl: listener.url, token: TOKEN });
    await expect(say(client, ['one'])).rejects.toMatchObject({ name: 'ChannelRefused', status: 404 });
  });

  test('by a server that has none', async () => {
    const listener = await listen((_req, res) => res.writeHead(404).end(), { host: '127.0.0.1', port: 0 });
    stop.push(async () => void (await listener.drain(0)));
    await expect(say(clientOf(listener), ['one'])).rejects.toMatchObject({ name: 'ChannelRefused', status: 404 });
    const headers = { connection: 'upgrade', upgrade: 'h2c' };
    const plain = httpRequest(listener.url, { headers }).end();
    const [res] = await once(plain, 'response');
    expect(res.statusCode).toBe(404);
    res.resume();
  });
});

describe('a connection is ended', () => {
  test.each([
    ['that is no JSON', 'hello\n'],
    ['that is no call', '{"request_id":1}\n'],
    ['that is too long', 'x'.repeat(300 * 1024)],
    ['that come long before their turn', `${JSON.stringify({ request_id: 'a', words: [] })}\n`.repeat(18)],
  ])('by what comes over it %s', async (_name, text) => {
    const { listener, logs } = await serve(() => new Promise(() => {}));
    const { socket } = await upgrade(listener);
    const closed = new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()));
    socket.write(text);
    await closed;
    expect(logs.text()).not.toContain('hello');
  });

  test('by an answer that does not come in time, and the next call has a new one', async () => {
    const { listener } = await serve(async (call) => {
      if (!call.question.words.includes('wait')) await echo(call);
    });
    const client = clientOf(listener);
    await expect(say(client, ['wait'], 50)).rejects.toThrow('no answer in time');
    expect(await say(client, ['one'])).toEqual(['one']);
  });

  test('by a server that cannot be reached', async () => {
    const { listener } = await serve();
    const client = clientOf(listener);
    await listener.drain(0);
    await expect(say(client, ['one'])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test.each([
    ['nobody has asked for', 'x\n', ''],
    ['the answer is cut', '', '"one'],
  ])('by the client: %s', async (_name, early, late) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: svc-echo\r\n\r\n${early}`);
        socket.once('data', () => socket.end(late));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(say(clientOf({ url: `http://127.0.0.1:${port}` }), ['one'])).rejects.toThrow(/channel|asked for/);
  });
});

describe('a server that stops', () => {
  test('has idle callers leave, and cuts nobody off', async () => {
    const { listener } = await serve();
    const client = clientOf(listener);
    await say(client, ['one']);
    expect(await listener.drain(5_000)).toBe(true);
  });

  test('answers the call that is under way first', async () => {
    const go = Promise.withResolvers<void>();
    let isAsked = false;
    const { listener } = await serve(async (call) => {
      isAsked = true;
      await go.promise;
      await echo(call);
    });
    const asked = say(clientOf(listener), ['one']);
    await waitFor(() => isAsked);
    const drained = listener.drain(5_000);
    go.resolve();
    expect(await asked).toEqual(['one']);
    expect(await drained).toBe(true);
  });

  test('ends callers that do not leave, and cuts off calls that outlast the grace', async () => {
    const { listener } = await serve(() => new Promise(() => {}));
    const idle = await upgrade(listener);
    const closed = once(idle.socket, 'end');
    const busy = say(clientOf(listener), ['one']);
    busy.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await listener.drain(300)).toBe(false);
    await closed;
    expect(idle.text()).toBe('{"closing":true}\n');
    await expect(busy).rejects.toThrow('the other side ended the channel');
  });
});
