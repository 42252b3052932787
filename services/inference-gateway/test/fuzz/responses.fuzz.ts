import { BOUND, damaged, damages, inPieces, sizes } from '@svc/testing/fuzz';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyDecoder } from '../../src/providers/http-client/body-decoder.ts';
import { BadResponseError, parseResponseHead } from '../../src/providers/http-client/response-head.ts';

const chunkOf = (bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);

const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 6 });
const chunked = (parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat([...parts.map(chunkOf), Buffer.from('0\r\n\r\n')]);

interface Decoded {
  readonly body: string;
  readonly end: 'done' | 'surplus' | 'open' | 'refused';
}

/** Decodes until the body has ended, as a connection does. */
const decode = (pieces: readonly Buffer[]): Decoded => {
  const decoder = createBodyDecoder('chunked');
  const parts: Buffer[] = [];
  const body = () => Buffer.concat(parts).toString('latin1');
  try {
    for (const [place, piece] of pieces.entries()) {
      parts.push(Buffer.from(decoder.take(piece)));
      if (!decoder.isDone()) continue;
      return { body: body(), end: decoder.hasSurplus() || place < pieces.length - 1 ? 'surplus' : 'done' };
    }
  } catch (error) {
    if (!(error instanceof BadResponseError)) throw error;
    return { body: body(), end: 'refused' };
  }
  return { body: body(), end: 'open' };
};

test('RFC 9112 §7.1: decodes a chunked body completely in any pieces', () => {
  fc.assert(
    fc.property(chunks, sizes, (parts, lengths) => {
      const body = Buffer.concat(parts).toString('latin1');
      expect(decode(inPieces(chunked(parts), lengths))).toEqual({ body, end: 'done' });
    }),
    BOUND,
  );
});

test('RFC 9112 §7.1: ends a damaged body the same way in any pieces, and delivers nothing after the damage', () => {
  fc.assert(
    fc.property(chunks, damages, sizes, (parts, changes, lengths) => {
      const bytes = damaged(chunked(parts), changes);
      const whole = decode([bytes]);
      const cut = decode(inPieces(bytes, lengths));
      expect(cut.end).toBe(whole.end);
      // A read that is rejected as a whole delivers nothing; pieces before the damage have been delivered.
      if (whole.end !== 'refused') expect(cut.body).toBe(whole.body);
    }),
    BOUND,
  );
});

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nx-id: 1\r\n\r\n';

test('RFC 9112 §4: reads or refuses a damaged head and never fails otherwise', () => {
  fc.assert(
    fc.property(damages, (changes) => {
      const text = damaged(Buffer.from(HEAD, 'latin1'), changes).toString('latin1');
      try {
        parseResponseHead(text.slice(0, -4));
      } catch (error) {
        expect(error).toBeInstanceOf(BadResponseError);
      }
    }),
    BOUND,
  );
});
