import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { type HttpRequest, toRequestHead } from './http-exchange.ts';

const headOf = (changes: Partial<HttpRequest>): string =>
  toRequestHead(
    { origin: 'http://provider', method: 'POST', path: '/v1', headers: {}, body: null, ...changes },
    'provider:8080',
  );
const START = 'POST /v1 HTTP/1.1\r\nhost: provider:8080\r\nconnection: keep-alive\r\n';

describe('RFC 9112 §3 and §6: the head of a request', () => {
  test.each([
    ['no body, with a method that could have one', null, 'content-length: 0\r\n'],
    ['an empty text', '', 'content-length: 0\r\n'],
    ['a text', 'hello', 'content-length: 5\r\n'],
    ['a text that is not ASCII', 'h\u00e9 \u{1f600} \ud800', 'content-length: 12\r\n'],
    ['bytes', Buffer.from('hello'), 'content-length: 5\r\n'],
    ['a stream', Readable.from(['hello']), 'transfer-encoding: chunked\r\n'],
  ])('states the framing of %s', (_name, body, framing) => {
    expect(headOf({ body, headers: { accept: 'text/plain' } })).toBe(`${START}accept: text/plain\r\n${framing}\r\n`);
  });

  test.each(['GET', 'DELETE'] as const)('states no body for a %s without one', (method) => {
    expect(headOf({ method, path: '/v1?a=%20#x' })).toBe(
      `${method} /v1?a=%20#x HTTP/1.1\r\nhost: provider:8080\r\nconnection: keep-alive\r\n\r\n`,
    );
  });
});

describe('an ambiguous request is refused', () => {
  test.each(['', 'v1', 'http://elsewhere/', '/a b', '/a\r\nx: y', '/a\n', '/a\0', '/\u00e9', '/a\t'])(
    'with the path %j',
    (path) => expect(() => headOf({ path })).toThrow(TypeError),
  );

  test.each([
    '',
    ' ',
    'a b',
    'a:',
    'a\r\nb',
    'a\n',
    '\u00e9',
    '(a)',
    'Host',
    'connection',
    'Content-Length',
    'transfer-encoding',
  ])('with a header named %j', (name) => expect(() => headOf({ headers: { [name]: 'x' } })).toThrow(TypeError));

  test.each(['a\r\nb: c', 'a\n', '\r', '\0', '\u00e9', '\x7f', '\u010a', '\u2028'])('with a header of %j', (value) =>
    expect(() => headOf({ headers: { 'x-a': value } })).toThrow(TypeError),
  );
});
