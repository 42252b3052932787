import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BodyDecoder, createBodyDecoder } from './body-decoder.ts';
import { BadResponseError } from './response-head.ts';

/** Overwritten after each read, like the client's read buffer. */
const lent = Buffer.alloc(64 * 1024);

const take = (decoder: BodyDecoder, bytes: Buffer): Buffer => {
  bytes.copy(lent);
  const piece = decoder.take(lent.subarray(0, bytes.length));
  lent.fill('!', 0, bytes.length);
  return piece;
};

/** Feeds these reads to a decoder and returns the decoded body. */
const decode = (decoder: BodyDecoder, reads: readonly Buffer[]): Buffer => {
  const pieces = reads.map((bytes) => take(decoder, bytes));
  return Buffer.concat(pieces);
};

const ofBytes = (text: string): Buffer[] => [...Buffer.from(text, 'latin1')].map((byte) => Buffer.of(byte));

/** Cuts the bytes at these places, given in any order. */
const cutAt = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length));
};

const WHOLE = '4\r\nWiki\r\n5;a="b\t"\r\npedia\r\n00E \t\r\n in\r\n\r\nchunks.\r\n0;last\r\nx-sum: 1\r\ny:\r\n\r\n';
const BODY = 'Wikipedia in\r\n\r\nchunks.';

describe('RFC 9112 §7.1: a body in chunks', () => {
  test('is decoded completely and ends exactly at its last byte wherever it is cut', () => {
    const bytes = Buffer.from(WHOLE);
    for (let at = 0; at <= bytes.length; at += 1) {
      const decoder = createBodyDecoder('chunked');
      const first = take(decoder, bytes.subarray(0, at));
      expect(decoder.isDone()).toBe(at === bytes.length);
      const second = at === bytes.length ? Buffer.alloc(0) : take(decoder, bytes.subarray(at));
      expect(`${first}${second}`).toBe(BODY);
      expect([decoder.isDone(), decoder.hasSurplus()]).toEqual([true, false]);
    }
    expect(decode(createBodyDecoder('chunked'), ofBytes(WHOLE)).toString()).toBe(BODY);
  });

  test('is decoded completely with any chunks, extensions, trailers and reads, never in the memory of the reads', () => {
    const extension = fc.constantFrom('', ' ', '\t ', ';a', ';a=b', ' ;a="b c"', ';\xff;;');
    const data = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.uint8Array({ minLength: 1, maxLength: 5_000 }),
    );
    const chunk = fc.record({ data, extension, isUpper: fc.boolean(), zeros: fc.integer({ min: 0, max: 4 }) });
    const trailers = fc.array(fc.constantFrom('a: b', 'x:', ':', `x-long: ${'y'.repeat(100)}`), { maxLength: 3 });
    const shape = fc.record({
      chunks: fc.array(chunk, { maxLength: 12 }),
      last: fc.constantFrom('0', '000', '0;x', '0 '),
      trailers,
      cuts: fc.array(fc.nat(), { maxLength: 30 }),
      surplus: fc.constantFrom('', 'H', '0\r\n\r\n', '\r\n'),
    });
    fc.assert(
      fc.property(shape, ({ chunks, last, trailers: lines, cuts, surplus }) => {
        const framed = chunks.flatMap(({ data: bytes, extension: more, isUpper, zeros }) => {
          const size = `${'0'.repeat(zeros)}${bytes.length.toString(16)}`;
          return [
            Buffer.from(`${isUpper ? size.toUpperCase() : size}${more}\r\n`, 'latin1'),
            bytes,
            Buffer.from('\r\n'),
          ];
        });
        const end = `${last}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
        const body = Buffer.concat([...framed, Buffer.from(end)]);
        const decoder = createBodyDecoder('chunked');
        const pieces: Buffer[] = [];
        let fed = 0;
        for (const read of cutAt(Buffer.concat([body, Buffer.from(surplus)]), cuts)) {
          if (decoder.isDone()) break;
          pieces.push(take(decoder, read));
          fed += read.length;
          expect(decoder.isDone()).toBe(fed >= body.length);
          expect(decoder.hasSurplus()).toBe(fed > body.length);
        }
        expect(decoder.isDone()).toBe(true);
        expect(Buffer.concat(pieces).equals(Buffer.concat(chunks.map(({ data: bytes }) => bytes)))).toBe(true);
      }),
    );
  });

  test('retains little more memory than its bytes even with tiny chunks', () => {
    for (const size of ['1', `1;ext="${'x'.repeat(60)}"`, '10']) {
      const data = 'x'.repeat(Number.parseInt(size, 16));
      const chunk = `${size}\r\n${data}\r\n`;
      const read = Buffer.from(chunk.repeat(Math.floor(lent.length / chunk.length)));
      const decoder = createBodyDecoder('chunked');
      const pieces = Array.from({ length: 100 }, () => take(decoder, read));
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const kept = [...new Set(pieces.map((piece) => piece.buffer))].reduce((sum, each) => sum + each.byteLength, 0);
      expect(kept).toBeLessThanOrEqual(2 * bytes + 2 * Buffer.poolSize);
    }
  });

  test('returns one piece per read', () => {
    expect(take(createBodyDecoder('chunked'), Buffer.from(WHOLE)).toString()).toBe(BODY);
  });

  test.each([
    ['no size', '\r\n'],
    ['a size that is an extension only', ';a\r\n'],
    ['a size after a blank', ' 5\r\nhello\r\n'],
    ['a size that is not a number', 'g\r\n'],
    ['a sign', '+5\r\nhello\r\n'],
    ['a hexadecimal prefix', '0x5\r\nhello\r\n'],
    ['a size of too many digits', '1000000000000\r\n'],
    ['too many zeros', '0000000000005\r\n'],
    ['text after a size and a blank', '5 0\r\nhello\r\n'],
    ['a size that ends with LF', '5\nhello\r\n'],
    ['a size that ends with CR', '5\rhello\r\n'],
    ['an extension that ends with LF', '5;a\nhello\r\n'],
    ['an extension with a lone CR', '5;a\rb\r\nhello\r\n'],
    ['data without a line end', '5\r\nhello5\r\nhello\r\n'],
    ['data that ends with LF', '5\r\nhello\n0\r\n\r\n'],
    ['data that ends with CR', '5\r\nhello\r0\r\n\r\n'],
    ['less data than its size', '6\r\nhello\r\n0\r\n\r\n'],
    ['more data than its size', '4\r\nhello\r\n0\r\n\r\n'],
    ['a last line that ends with LF', '0\r\n\n'],
    ['a last line that ends with CR', '0\r\n\rx'],
    ['a trailer that ends with LF', '0\r\na: b\n\r\n'],
    ['a trailer with a lone CR', '0\r\na: b\rc\r\n\r\n'],
  ])('is refused with %s, in one read or byte by byte', (_name, text) => {
    expect(() => take(createBodyDecoder('chunked'), Buffer.from(text))).toThrow(BadResponseError);
    expect(() => decode(createBodyDecoder('chunked'), ofBytes(text))).toThrow(BadResponseError);
  });

  test.each([
    ['an endless extension', '5;', 'x'],
    ['endless blanks after a size', '5', ' '],
    ['an endless trailer', '0\r\n', 'x'],
    ['endless trailers', '0\r\n', 'x: y\r\n'],
  ])('is refused with %s', (_name, start, filling) => {
    const decoder = createBodyDecoder('chunked');
    take(decoder, Buffer.from(start));
    const more = Buffer.from(filling.repeat(1_000));
    expect(() =>
      decode(
        decoder,
        Array.from({ length: 50 }, () => more),
      ),
    ).toThrow(BadResponseError);
  });

  test('accepts an extension on each of many chunks', () => {
    const decoder = createBodyDecoder('chunked');
    const chunk = Buffer.from(`1;signature=${'a'.repeat(64)}\r\nx\r\n`);
    const pieces = Array.from({ length: 1_000 }, () => take(decoder, chunk).toString());
    expect(pieces.join('')).toBe('x'.repeat(1_000));
  });

  test('is incomplete if the connection ends before the last chunk', () => {
    expect(createBodyDecoder('chunked').endsWithConnection).toBe(false);
  });
});

describe('RFC 9112 §6.3: a body with a length', () => {
  test('is decoded completely and ends exactly at its last byte wherever it is cut; the rest is surplus', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 500 }),
        fc.uint8Array({ maxLength: 3 }),
        fc.array(fc.nat(), { maxLength: 10 }),
        (body, surplus, cuts) => {
          const decoder = createBodyDecoder(body.length);
          expect([decoder.isDone(), decoder.endsWithConnection]).toEqual([body.length === 0, false]);
          const pieces: Buffer[] = [];
          let fed = 0;
          for (const read of cutAt(Buffer.concat([body, surplus]), cuts)) {
            if (fed > 0 && decoder.isDone()) break;
            pieces.push(take(decoder, read));
            fed += read.length;
            expect(decoder.isDone()).toBe(fed >= body.length);
            expect(decoder.hasSurplus()).toBe(fed > body.length);
          }
          expect(Buffer.concat(pieces).equals(Buffer.from(body))).toBe(true);
        },
      ),
    );
  });
});

describe('RFC 9112 §6.3: a body that ends with the connection', () => {
  test('ends only with the connection and has no surplus', () => {
    const decoder = createBodyDecoder('close');
    expect(decoder.endsWithConnection).toBe(true);
    expect(decode(decoder, ofBytes('all of it\r\n0\r\n\r\n')).toString()).toBe('all of it\r\n0\r\n\r\n');
    expect([decoder.isDone(), decoder.hasSurplus()]).toEqual([false, false]);
  });
});
