import { describe, expect, test } from 'vitest';
import { BadResponseError, parseResponseHead, type ResponseHead } from './response-head.ts';

/** Parses a head with these lines below the status line. */
const parse = (lines: readonly string[], statusLine = 'HTTP/1.1 200 OK'): ResponseHead =>
  parseResponseHead([statusLine, ...lines].join('\r\n'));

describe('RFC 9112 §4: the status line', () => {
  test.each([
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.1 200 ', 200],
    ['HTTP/1.1 200', 200],
    ['HTTP/1.0 503 Service Unavailable', 503],
    ['HTTP/1.1 418 I am a teapot: short', 418],
    ['HTTP/1.1 299 gr\xfcn', 299],
  ])('accepts %j', (statusLine, status) => expect(parse([], statusLine).status).toBe(status));

  test.each([
    '',
    ' HTTP/1.1 200 OK',
    'http/1.1 200 OK',
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 020 OK',
    'HTTP/1.1 2x0 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 -20 OK',
    'ICY 200 OK',
    'content-length: 5',
  ])('rejects %j', (statusLine) => expect(() => parse([], statusLine)).toThrow(BadResponseError));
});

describe('RFC 9112 §5: the headers', () => {
  test('have lower-case names, trimmed values, and lists for repeated names', () => {
    const { headers } = parse(['X-One: 1', 'x-two:\t a  b \t', 'X-ONE:2', 'empty:', 'x-one: 3', 'quoted: "a: b"']);
    expect(headers).toEqual({ 'x-one': ['1', '2', '3'], 'x-two': 'a  b', empty: '', quoted: '"a: b"' });
  });

  test.each([
    ['a folded line', ['a: 1', ' 2']],
    ['a line folded by a tab', ['a: 1', '\t2']],
    ['no colon', ['nonsense']],
    ['no name', [': 1']],
    ['a blank before the colon', ['content-length : 5']],
    ['a blank in the name', ['a b: 1']],
    ['a name that is not a token', ['a(b): 1']],
    ['a name that is not ASCII', ['\xe4: 1']],
    ['an empty line', ['a: 1', '', 'b: 2']],
    ['a lone CR', ['a: 1\rb: 2']],
    ['a lone LF', ['a: 1\nb: 2']],
    ['a CR at the end', ['a: 1\r']],
    ['two CRs', ['a: 1\r', 'b: 2']],
    ['an LF before a CR', ['a: 1\n\r']],
    ['a NUL', ['a: 1\0']],
  ])('are refused with %s', (_name, lines) => expect(() => parse(lines)).toThrow(BadResponseError));

  test('are refused above the limit', () => {
    const head = (count: number) => `HTTP/1.1 200 OK${'\r\na:'.repeat(count)}`;
    expect(() => parseResponseHead(head(256))).not.toThrow();
    expect(() => parseResponseHead(head(257))).toThrow(BadResponseError);
  });

  test('never reach the prototype of the headers object', () => {
    const { headers } = parse(['__proto__: x', 'constructor: y', 'toString: z']);
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
    expect(Object.entries(headers)).toEqual([['tostring', 'z']]);
  });
});

describe('RFC 9112 §6: the end of the body', () => {
  test.each([
    ['nothing said', [], 'close'],
    ['a length', ['content-length: 5'], 5],
    ['a length of zero', ['Content-Length:0'], 0],
    ['the same length twice', ['content-length: 5', 'content-length: 5'], 5],
    ['a large length', ['content-length: 999999999999999'], 999_999_999_999_999],
    ['chunks', ['transfer-encoding: chunked'], 'chunked'],
    ['chunks in capitals', ['Transfer-Encoding: CHUNKED '], 'chunked'],
    ['chunks and a length', ['content-length: 5', 'transfer-encoding: chunked'], 'chunked'],
  ])('is determined by %s', (_name, lines, framing) => expect(parse(lines).framing).toBe(framing));

  test.each([
    ['two lengths', ['content-length: 5', 'content-length: 6']],
    ['two ways to write a length', ['content-length: 5', 'content-length: 05']],
    ['a list of lengths', ['content-length: 5, 5']],
    ['a sign', ['content-length: +5']],
    ['a negative length', ['content-length: -5']],
    ['a blank inside', ['content-length: 5 0']],
    ['a blank that HTTP does not know', ['content-length: \xa05']],
    ['a vertical tab', ['content-length: 5\x0b']],
    ['a fraction', ['content-length: 5.0']],
    ['an exponent', ['content-length: 5e3']],
    ['hexadecimal digits', ['content-length: 0x5']],
    ['no digits', ['content-length:']],
    ['more than a safe integer', ['content-length: 9999999999999999']],
    ['compression', ['transfer-encoding: gzip']],
    ['compression in chunks', ['transfer-encoding: gzip, chunked']],
    ['compression in chunks, on two lines', ['transfer-encoding: gzip', 'transfer-encoding: chunked']],
    ['chunks of chunks', ['transfer-encoding: chunked', 'transfer-encoding: chunked']],
    ['a coding after the chunks', ['transfer-encoding: chunked, identity']],
    ['chunks after a vertical tab', ['transfer-encoding: \x0bchunked']],
    ['an empty coding', ['transfer-encoding:', 'content-length: 5']],
  ])('is ambiguous with %s, which is refused', (_name, lines) => expect(() => parse(lines)).toThrow(BadResponseError));

  test.each([100, 103, 199, 204, 304])('comes at once for status %i with any headers', (status) => {
    expect(parse([], `HTTP/1.1 ${status} x`).framing).toBe(0);
    expect(parse(['content-length: 5'], `HTTP/1.1 ${status} x`).framing).toBe(0);
    expect(parse(['transfer-encoding: chunked'], `HTTP/1.1 ${status} x`).framing).toBe(0);
  });
});

describe('RFC 9112 §9.3: the keep-alive time', () => {
  const NOT_SAID = undefined;
  test.each([
    ['nothing said', [], NOT_SAID],
    ['keep-alive', ['connection: keep-alive'], NOT_SAID],
    ['close', ['connection: close'], 0],
    ['close among others', ['connection: X-Trace , Close'], 0],
    ['close on a separate line', ['connection: keep-alive', 'connection: close'], 0],
    ['a word that only contains close', ['connection: disclose'], NOT_SAID],
    ['a time, shortened by a margin', ['keep-alive: timeout=5'], 3_000],
    ['a time among others', ['keep-alive: max=100, Timeout=72'], 70_000],
    ['a time on a separate line', ['keep-alive: max=100', 'keep-alive: timeout=5'], 3_000],
    ['a time within the margin', ['keep-alive: timeout=2'], 0],
    ['no time', ['keep-alive: timeout=0'], 0],
    ['a time that is not a number', ['keep-alive: timeout=-5'], NOT_SAID],
    ['another word that ends like it', ['keep-alive: notimeout=5'], NOT_SAID],
    ['a time, and close', ['connection: close', 'keep-alive: timeout=5'], 0],
    [
      'chunks and a length, which an intermediary may have used',
      ['content-length: 5', 'transfer-encoding: chunked'],
      0,
    ],
  ])('with %s', (_name, lines, keepAliveMs) => expect(parse(lines).keepAliveMs).toBe(keepAliveMs));

  test.each([
    ['nothing said', [], 0],
    ['keep-alive', ['connection: Keep-Alive'], NOT_SAID],
    ['keep-alive and close', ['connection: keep-alive, close'], 0],
    [
      'keep-alive and chunks, which HTTP/1.0 does not know',
      ['connection: keep-alive', 'transfer-encoding: chunked'],
      0,
    ],
  ])('by HTTP/1.0 with %s', (_name, lines, keepAliveMs) =>
    expect(parse(lines, 'HTTP/1.0 200 OK').keepAliveMs).toBe(keepAliveMs),
  );
});
