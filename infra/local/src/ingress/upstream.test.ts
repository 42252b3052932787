import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { clientAddressOf } from './upstream.ts';

const SOCKET = '10.0.0.9';

const from = (forwarded: string | undefined): IncomingMessage => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: `::ffff:${SOCKET}` });
  const request = new IncomingMessage(socket);
  if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded;
  return request;
};

describe('the client address', () => {
  test('is that of the socket if no proxy is trusted', () => {
    expect(clientAddressOf(from('198.51.100.1'), 0)).toBe(SOCKET);
  });

  test.each([
    ['198.51.100.1', 1, '198.51.100.1'],
    ['203.0.113.66, 198.51.100.1', 1, '198.51.100.1'],
    ['203.0.113.66, 198.51.100.1, 192.0.2.7', 2, '198.51.100.1'],
    ['2001:db8::1', 1, '2001:db8::1'],
  ])('of "%s" behind %i trusted proxies is %s', (forwarded, hops, address) => {
    expect(clientAddressOf(from(forwarded), hops)).toBe(address);
  });

  test.each([undefined, '', 'unknown', '198.51.100.1:443'])(
    'is that of the socket if the proxy states %s',
    (forwarded) => {
      expect(clientAddressOf(from(forwarded), 1)).toBe(SOCKET);
    },
  );
});
