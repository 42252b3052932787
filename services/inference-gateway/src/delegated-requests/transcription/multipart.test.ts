import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundaryOf, createMultipartParser, MultipartError } from './multipart.ts';

interface Part {
  name: string;
  filename: string | undefined;
  data: string;
}

const parse = (chunks: readonly Buffer[], boundary = 'B'): Part[] => {
  const parser = createMultipartParser(boundary);
  const parts: Part[] = [];
  for (const chunk of chunks) {
    for (const event of parser.push(chunk)) {
      if (event.type === 'part') parts.push({ name: event.headers.name, filename: event.headers.filename, data: '' });
      const last = parts.at(-1);
      if (event.type === 'data' && last !== undefined) last.data += event.bytes.toString('latin1');
    }
  }
  parser.end();
  return parts;
};
const part = (disposition: string, data: string, more = ''): string =>
  `--B\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${data}\r\n`;
const form = `${part('name="a"', '')}${part('name="file"; filename="x.wav"', 'one\r\n--C\r\n-', 'Content-Type: audio/wav\r\n')}--B--\r\n`;

describe('a well-formed form', () => {
  test('yields the same parts, however its bytes are split', () => {
    const bytes = Buffer.from(form);
    const expected = [
      { name: 'a', filename: undefined, data: '' },
      { name: 'file', filename: 'x.wav', data: 'one\r\n--C\r\n-' },
    ];
    expect(parse([bytes])).toEqual(expected);
    expect(parse([...bytes].map((byte) => Buffer.of(byte)))).toEqual(expected);
    for (let at = 1; at < bytes.length; at += 1) {
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(expected);
    }
  });

  test('yields any data unchanged, in pieces of any size', () => {
    const data = fc
      .array(fc.constantFrom('\r', '\n', '-', '--', 'B', '\r\n--', '\r\n--A', 'x', '\0'))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(data, fc.integer({ min: 1, max: 9 }), (text, size) => {
        fc.pre(!`${text}\r\n`.includes('\r\n--B') && !text.startsWith('--B'));
        const bytes = Buffer.from(`${part('name="a"', text)}--B--`);
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
        expect(parse(chunks)[0]?.data).toBe(text);
      }),
    );
  });

  test.each([
    ['a preamble and an epilogue', `hello\r\n${form}bye --B`],
    ['blanks after a delimiter', form.replaceAll('--B\r\n', '--B \t\r\n')],
    ['no final line end', form.trimEnd()],
  ])('may have %s', (_name, text) => expect(parse([Buffer.from(text)])).toHaveLength(2));

  test.each([
    ['name=a', 'a'],
    ['name="a b"', 'a b'],
    ['name="a\\"b"', 'a"b'],
    ['name="é"; filename="ü.wav"', 'é'],
    ['filename*=UTF-8\'\'x; name="a"', 'a'],
    // RFC 2183 has parameters with hyphens, and allows any token as a name.
    ['modification-date="Wed, 12 Feb 1997 16:29:51 -0500"; filename*0="x"; name="a"; size=1', 'a'],
  ])('may name a field by %s', (disposition, name) =>
    expect(parse([Buffer.from(`${part(disposition, 'x')}--B--`)])[0]?.name).toBe(name),
  );
});

describe('throws MultipartError for a form with', () => {
  test.each([
    ['no content', ''],
    ['no closing delimiter', form.slice(0, -6)],
    ['another boundary', form.replaceAll('--B', '--X')],
    ['text after a delimiter', form.replace('--B\r\n', '--Bee\r\n')],
    ['no name', `${part('filename="x"', 'x')}--B--`],
    ['no disposition', '--B\r\nContent-Type: text/plain\r\n\r\nx\r\n--B--'],
    ['no headers', '--B\r\n\r\nx\r\n--B--'],
    ['another disposition', `${part('name="a"', 'x').replace('form-data', 'attachment')}--B--`],
    ['two names', `${part('name="a"; name="b"', 'x')}--B--`],
    ['rubbish after the parameters', `${part('name="a" x', 'x')}--B--`],
    ['an open quote', `${part('name="a', 'x')}--B--`],
    ['a repeated header', `${part('name="a"', 'x', 'Content-Disposition: form-data; name="b"\r\n')}--B--`],
    ['encoded data', `${part('name="a"', 'eA==', 'Content-Transfer-Encoding: base64\r\n')}--B--`],
    ['a folded header', `${part('name="a";\r\n filename="b"', 'x')}--B--`],
    ['endless headers', `--B\r\nx: ${'y'.repeat(10_000)}`],
    ['endless padding', `--B${' '.repeat(10_000)}`],
    ['too many parts', part('name="a"', 'x').repeat(33)],
  ])('%s', (_name, text) => expect(() => parse([Buffer.from(text)])).toThrow(MultipartError));
});

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; charset=utf-8; boundary="a b:c"', 'a b:c'],
  ['multipart/form-data', undefined],
  ['multipart/form-data; boundary=', undefined],
  ['multipart/form-data; boundary="a\r\nb"', undefined],
  [`multipart/form-data; boundary=${'x'.repeat(71)}`, undefined],
  [undefined, undefined],
])('reads the boundary of %s as %s', (contentType, boundary) => expect(boundaryOf(contentType)).toBe(boundary));
