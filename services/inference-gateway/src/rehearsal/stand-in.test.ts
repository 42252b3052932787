import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { standIn } from './stand-in.ts';

const REQUEST = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ';
const STREAMED = '{"stream":true}';

const server = createServer(standIn);
afterEach(() => {
  server.closeAllConnections();
});

afterAll(() => {
  server.close();
});

const open = async () => {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  // A listening TCP server has an address of this shape.
  return connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
};

/** What nobody catches after this would fail the file. */
const settle = async () => {
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
};

test('a rehearsal that is broken off within a stream breaks nothing else', async () => {
  const socket = await open();
  socket.write(`${REQUEST}${STREAMED.length}\r\n\r\n${STREAMED}`);
  await once(socket, 'data');
  socket.resetAndDestroy();
  await settle();
  expect(server.listening).toBe(true);
});

test('nor within a request, nor by one that is no JSON', async () => {
  const half = await open();
  half.write(`${REQUEST}100\r\n\r\n{`);
  await once(server, 'request');
  half.resetAndDestroy();
  const wrong = await open();
  wrong.write(`${REQUEST}1\r\n\r\n{`);
  wrong.resume();
  await once(wrong, 'close');
  await settle();
  expect(server.listening).toBe(true);
});
