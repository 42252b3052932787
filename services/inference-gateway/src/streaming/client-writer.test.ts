import { once } from 'node:events';
import { createServer, IncomingMessage, request, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ClientWriter, type ClientWriterOptions } from './client-writer.ts';

const PIECES = [
  'data: a\n\n',
  Buffer.from('data: é\n\n'),
  'data: ü\n\n',
  Buffer.alloc(20_000, 'b'),
  'data: [DONE]\n\n',
];
const WHOLE = PIECES.map(String).join('');

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const OPTIONS: ClientWriterOptions = { idleTimeoutMs: 10_000, keepAliveMs: 15_000, silentMs: 0, sendsComments: true };

const serve = async (
  answer: (writer: ClientWriter, res: ServerResponse) => void,
  onFull = (): void => {},
  options: Partial<ClientWriterOptions> = {},
) => {
  let onRoom = (): void => {};
  const hadRoom = new Promise<void>((resolve) => {
    onRoom = resolve;
  });
  const server = createServer((_req, res) => {
    const writer = new ClientWriter(res, { ...OPTIONS, ...options });
    writer.watch({ onFull, onRoom });
    answer(writer, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // The address of a listening TCP server is an object.
  return { port: (server.address() as AddressInfo).port, hadRoom };
};

const sendAll = (writer: ClientWriter): void => {
  writer.open({ 'content-type': 'text/event-stream' });
  for (const piece of PIECES.slice(0, -1)) {
    writer.add(piece);
    writer.flush();
  }
  writer.end(PIECES.at(-1));
};

const exchange = async (port: number, sent: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  return await text(socket);
};

test('delivers pieces of any kind and size complete and in order', async () => {
  const { port } = await serve(sendAll);
  const sent = request({ port, host: '127.0.0.1' }).end();
  const [answer] = await once(sent, 'response');
  expect(answer.headers['transfer-encoding']).toBe('chunked');
  expect(await text(answer)).toBe(WHOLE);
});

test('sends no chunked encoding to an HTTP/1.0 caller', async () => {
  const { port } = await serve(sendAll);
  const answer = await exchange(port, 'GET / HTTP/1.0\r\n\r\n');
  expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(WHOLE);
});

test('queues a pipelined answer until the previous one has ended', async () => {
  let count = 0;
  const { port } = await serve((writer, res) => {
    count += 1;
    if (count === 1) setTimeout(() => res.end('first'), 50);
    else sendAll(writer);
  });
  const answer = await exchange(
    port,
    'GET / HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
  );
  const [first = '', second = ''] = answer.split('HTTP/1.1 200 OK').slice(1);
  expect(first.endsWith('\r\n\r\nfirst')).toBe(true);
  expect(second).toContain('data: é\n\n');
  expect(second.endsWith('0\r\n\r\n')).toBe(true);
});

test('signals backpressure until a slow caller reads', async () => {
  let isFull = false;
  const { port, hadRoom } = await serve(
    (writer) => {
      writer.open({});
      while (!isFull) {
        writer.add(Buffer.alloc(8_000, 'x'));
        writer.flush();
      }
    },
    () => {
      isFull = true;
    },
  );
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(socket, 'readable');
  expect(isFull).toBe(true);
  socket.resume();
  await hadRoom;
  socket.destroy();
});

test('removes its listeners from a connection that is reused', async () => {
  let listeners = 0;
  const { port } = await serve((writer, res) => {
    listeners = res.socket?.listenerCount('drain') ?? 0;
    sendAll(writer);
  });
  const one = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
  const socket = connect(port, '127.0.0.1');
  for (let count = 0; count < 3; count += 1) {
    socket.write(one);
    let answer = '';
    for await (const piece of socket.iterator({ destroyOnReturn: false })) {
      answer += String(piece);
      if (answer.endsWith('0\r\n\r\n')) break;
    }
  }
  socket.destroy();
  // That of the current stream, and that of the server.
  expect(listeners).toBe(2);
});

describe('a silent stream', () => {
  const SECOND = 1_000;
  const COMMENT = ': keep-alive\n\n';
  const HEADERS = { 'content-type': 'text/event-stream' };

  /** A response without a socket that collects its pieces. */
  const silent = (options: Partial<ClientWriterOptions> = {}) => {
    vi.useFakeTimers();
    const res = new ServerResponse(new IncomingMessage(new Socket()));
    const sent: string[] = [];
    let hasRoom = true;
    vi.spyOn(res, 'write').mockImplementation((piece: unknown) => {
      sent.push(String(piece));
      return hasRoom;
    });
    const heads = vi.spyOn(res, 'writeHead');
    const writer = new ClientWriter(res, { ...OPTIONS, idleTimeoutMs: 60 * SECOND, ...options });
    stops.push(() => {
      writer.release();
      vi.useRealTimers();
    });
    const block = (): void => {
      hasRoom = false;
    };
    return { res, writer, sent, heads, block };
  };

  test('gets a comment after 15 s, and one for every further 15 s, but none while it sends', () => {
    const { writer, sent } = silent();
    writer.open(HEADERS);
    vi.advanceTimersByTime(14 * SECOND);
    writer.add('data: a\n\n');
    writer.flush();
    vi.advanceTimersByTime(14 * SECOND);
    expect(sent).toEqual(['data: a\n\n']);
    vi.advanceTimersByTime(31 * SECOND);
    expect(sent).toEqual(['data: a\n\n', COMMENT, COMMENT, COMMENT]);
  });

  test('counts the silence before the writer only once', () => {
    const { writer, sent } = silent({ silentMs: 14 * SECOND });
    writer.open(HEADERS);
    vi.advanceTimersByTime(SECOND);
    expect(sent).toEqual([COMMENT]);
    vi.advanceTimersByTime(14 * SECOND);
    expect(sent).toEqual([COMMENT]);
  });

  test('starts with its late headers after 15 s, or as soon as they are known', () => {
    const { writer, sent, heads } = silent();
    let headers: typeof HEADERS | undefined;
    const late = { headers: () => headers, fail: () => 'failed' };
    writer.startLateBy(late);
    vi.advanceTimersByTime(20 * SECOND);
    expect([heads.mock.calls.length, sent, writer.startedLateBy()]).toEqual([0, [], undefined]);
    headers = HEADERS;
    writer.startLateBy(late);
    expect(heads).toHaveBeenCalledWith(200, HEADERS);
    expect([sent, writer.startedLateBy()]).toEqual([[COMMENT], late]);
    writer.open({ 'content-type': 'text/plain' });
    expect(heads).toHaveBeenCalledTimes(1);
  });

  test("gets no comment while its caller reads nothing, nor where only the provider's bytes are wanted", () => {
    const slow = silent();
    slow.writer.open(HEADERS);
    slow.block();
    slow.writer.add('data: a\n\n');
    slow.writer.flush();
    vi.advanceTimersByTime(45 * SECOND);
    expect(slow.sent).toEqual(['data: a\n\n']);
    const plain = silent({ sendsComments: false });
    plain.writer.open(HEADERS);
    vi.advanceTimersByTime(45 * SECOND);
    expect(plain.sent).toEqual([]);
  });

  test('leaves no timer after its end, or after its caller has left', () => {
    const { writer, res } = silent();
    writer.open(HEADERS);
    writer.end('data: [DONE]\n\n');
    res.emit('finish');
    expect(vi.getTimerCount()).toBe(0);
    const left = silent();
    left.res.emit('close');
    expect(vi.getTimerCount()).toBe(0);
  });
});
