import { BOUND, damaged, damages, inPieces, sizes } from '@svc/testing/fuzz';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createMultipartParser,
  MultipartError,
  type PartHeaders,
} from '../../src/delegated-requests/transcription/multipart.ts';

const text = (max: number, ...of: string[]) =>
  fc
    .array(fc.oneof(fc.constantFrom(...of), fc.string({ maxLength: 8 })), { maxLength: max })
    .map((all) => all.join(''));
const header = fc.oneof(
  fc
    .record({ name: text(2, 'file', 'a', '"', '\\"'), filename: text(2, 'x.wav', 'é', ';') })
    .map(({ name, filename }) => `Content-Disposition: form-data; name="${name}"; filename="${filename}"`),
  fc.constantFrom('Content-Disposition: form-data; name=a', 'Content-Type: audio/wav', 'x: y'),
  text(3, ':', '\t', ';', '='),
);
const part = fc
  .record({
    headers: fc.array(header, { maxLength: 3 }),
    data: text(8, '\r', '\n', '--', '\r\n--', '\r\n--B', 'B', '\0'),
  })
  .map(({ headers, data }) => `--B\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${data}\r\n`);
const form = fc
  .record({ parts: fc.array(part, { maxLength: 4 }), end: fc.constantFrom('--B--\r\n', '--B--', '--B', '') })
  .map(({ parts, end }) => Buffer.from(parts.join('') + end));

/** Returns the parts that a parser yields, and its error. */
const parse = (pieces: readonly Buffer[]) => {
  const parser = createMultipartParser('B');
  const parts: { headers: PartHeaders; data: string; isWhole: boolean }[] = [];
  let failure: unknown;
  try {
    for (const piece of pieces) {
      for (const event of parser.push(piece)) {
        const last = parts.at(-1);
        if (event.type === 'part') parts.push({ headers: event.headers, data: '', isWhole: false });
        else if (last === undefined) throw new Error('data before any part');
        else if (event.type === 'data') last.data += event.bytes.toString('latin1');
        else last.isWhole = true;
      }
    }
    parser.end();
  } catch (error) {
    failure = error;
  }
  return { parts, failure };
};

test('reads any form the same in any pieces, or rejects it as damaged', () => {
  fc.assert(
    fc.property(form, damages, sizes, (bytes, changes, lengths) => {
      const sent = damaged(bytes, changes);
      const whole = parse([sent]);
      if (whole.failure !== undefined) expect(whole.failure).toBeInstanceOf(MultipartError);
      const cut = parse(inPieces(sent, lengths));
      expect(cut.failure?.constructor).toBe(whole.failure?.constructor);
      if (whole.failure === undefined) expect(cut.parts).toEqual(whole.parts);
      else for (const { data } of cut.parts) expect(sent.toString('latin1')).toContain(data);
    }),
    BOUND,
  );
});
