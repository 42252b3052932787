import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { waitFor } from '@svc/testing';
import { expect, onTestFinished, test } from 'vitest';
import { discardBody } from '../src/http/read-body.ts';
import { AppError, consumeBody, createLifecycle, readBodyBytes } from '../src/index.ts';
import { sendRaw } from './support/raw-http.ts';
import { collectLogs, startTestApp } from './support/test-app.ts';

const MEBIBYTE = 1024 * 1024;
const json = { 'content-type': 'application/json' };
const CHUNKED_HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';

const listenFor = async (handler: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> => {
  const life = createLifecycle({ logger: collectLogs().logger, shutdownGraceMs: 0 });
  onTestFinished(() => void life.stop());
  return (await life.listen(handler, { port: 0, host: '127.0.0.1' })).port;
};

/** Sends requests in one write and resolves with the number of responses when the connection closes. */
const countAnswers = async (port: number, requests: number): Promise<number> => {
  const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const last = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const text = await sendRaw(port, request.repeat(requests - 1) + last).catch(() => '');
  return text.split('HTTP/1.1 200').length - 1;
};

test('answers 32 pipelined requests', async () => {
  const port = await listenFor((_req, res) => void setImmediate(() => res.end()));
  expect(await countAnswers(port, 32)).toBe(32);
});

test('closes a connection with more unanswered requests without handling the rest', async () => {
  let handled = 0;
  const port = await listenFor((_req, res) => {
    handled += 1;
    setImmediate(() => res.end());
  });
  expect(await countAnswers(port, 1_000)).toBe(0);
  expect(handled).toBe(32);
});

test('throws payload_too_complex for a body in millions of tiny chunks and reads one in thousands', async () => {
  const outcomes: unknown[] = [];
  const port = await listenFor((req, res) => {
    consumeBody(req, { bytesMax: MEBIBYTE, onChunk: () => {} }).then(
      () => res.end('read'),
      (error: unknown) => {
        outcomes.push(error);
        res.end('refused');
      },
    );
  });
  const post = (chunks: number, until: RegExp) =>
    sendRaw(port, `${CHUNKED_HEAD}${'1\r\n \r\n'.repeat(chunks)}0\r\n\r\n`, until);
  await post(4_000, /read/);
  await post(5_000, /refused/);
  expect(outcomes).toEqual([expect.objectContaining({ code: 'payload_too_complex', status: 413 })]);
});

test('closes the connection of a refused body in millions of tiny chunks', async () => {
  const port = await listenFor((req, res) => {
    discardBody(req);
    res.end('refused');
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(CHUNKED_HEAD + '1\r\n \r\n'.repeat(5_000));
  socket.resume();
  await once(socket, 'close');
});

test('keeps 64 MiB of unfinished bodies at most: the oldest ends with request_timeout, small ones never', async () => {
  const outcomes: string[] = [];
  const port = await listenFor((req, res) => {
    readBodyBytes(req, MEBIBYTE).then(
      ({ length }) => res.end(`read ${length}`),
      (error: unknown) => {
        const name = req.url ?? '';
        outcomes.push(error instanceof AppError ? `${error.code} ${name}` : `lost ${name}`);
        res.writeHead(408, { connection: 'close' }).end();
      },
    );
  });
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  /** Sends a body but for its last byte. */
  const begin = (path: string, bytes: number): Socket => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n${' '.repeat(bytes - 1)}`);
    return socket;
  };
  const small = begin('/small', 1_000);
  for (let large = 0; large < 70; large += 1) begin(`/${large}`, MEBIBYTE);
  await waitFor(() => outcomes.length >= 6);
  expect(new Set(outcomes.map((outcome) => outcome.split(' ')[0]))).toEqual(new Set(['request_timeout']));
  expect(outcomes).not.toContain('request_timeout /small');
  expect(await sendRaw(port, `POST /new HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`, /read 2/)).toContain(
    '200',
  );
  small.write(' ');
  const [answer] = await once(small, 'data');
  expect(String(answer)).toContain('read 1000');
  expect(outcomes.length).toBeLessThan(35);
});

/** Counts the bytes received in each turn of the event loop. */
const turnsOf = (req: IncomingMessage): { readonly most: () => number } => {
  let before = req.socket.bytesRead;
  let most = 0;
  const count = (): void => {
    most = Math.max(most, req.socket.bytesRead - before);
    before = req.socket.bytesRead;
    if (!req.destroyed) setImmediate(count);
  };
  count();
  return { most: () => most };
};

test.each([
  ['that is read', (req: IncomingMessage) => consumeBody(req, { bytesMax: 32 * MEBIBYTE, onChunk: () => {} })],
  [
    'that is discarded',
    async (req: IncomingMessage) => {
      discardBody(req);
      await once(req, 'end');
    },
  ],
])('limits a body %s to a few reads per turn of the event loop', async (_name, read) => {
  const { promise: most, resolve } = Promise.withResolvers<number>();
  const port = await listenFor((req, res) => {
    const turns = turnsOf(req);
    void read(req).then(() => {
      res.end();
      resolve(turns.most());
    });
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${16 * MEBIBYTE}\r\n\r\n`);
  socket.write(Buffer.alloc(16 * MEBIBYTE));
  expect(await most).toBeLessThanOrEqual(MEBIBYTE / 2);
  socket.destroy();
});

test('keeps the connection open after a refused body', async () => {
  const { port, send } = await startTestApp();
  expect((await send('POST', '/v1/nothing', { headers: json, body: 'x'.repeat(MEBIBYTE) })).status).toBe(404);
  const refused = `POST /v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: ${MEBIBYTE}\r\n\r\n${'x'.repeat(MEBIBYTE)}`;
  const next = 'GET /v1/things HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const answer = await sendRaw(port, refused + next);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
});
