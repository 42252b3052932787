import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EmbeddingsScan } from './embeddings-scan.ts';
import { readEmbeddings } from './embeddings-shape.ts';

const USAGE = '{"prompt_tokens":3,"total_tokens":3}';
const ANSWER = ` { "object" : "list","data":[{"embedding":[0.1,-2e-3, 4],"index":0}], "m\\u006fdel":"m-\\"1" ,"usage":${USAGE},"extensions" : {"x":{"y":[1]}} }\n`;
const CONTEXT_MAX = 1_000;

const scan = (text: string | Buffer, cuts: readonly number[] = []) => {
  const bytes = Buffer.from(text);
  const scanned = new EmbeddingsScan();
  let isWithin = true;
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    // The caller reuses the bytes.
    const piece = Buffer.from(bytes.subarray(from, cut));
    isWithin = scanned.push(piece) && isWithin;
    piece.fill(0x7b);
    from = Math.max(from, cut);
  }
  return { isWithin, span: scanned.span(), values: scanned.values };
};
const read = (text: string, cuts?: readonly number[]) => readEmbeddings(scan(text, cuts).span, CONTEXT_MAX);

describe('EmbeddingsScan', () => {
  test('finds the same members, however the answer is split', () => {
    const length = Buffer.byteLength(ANSWER);
    const whole = read(ANSWER);
    expect(whole).toMatchObject({
      isAmbiguous: false,
      model: 'm-"1',
      usage: { input: 3, output: 0 },
      span: { open: 1, close: length - 2 },
    });
    fc.assert(
      fc.property(fc.array(fc.nat(length), { maxLength: 12 }), (cuts) => {
        const sorted = cuts.sort((a, b) => a - b);
        expect(read(ANSWER, sorted)).toEqual(whole);
      }),
    );
  });

  test('points at the extensions in the whole text', () => {
    const reading = read(ANSWER);
    if (reading.isAmbiguous) throw new Error('ambiguous');
    const at = reading.extensions?.open ?? -1;
    expect(ANSWER.slice(at)).toMatch(/^\{"x"/);
  });

  test('counts no numbers in lists, and everything else', () => {
    const numbers = `[${'1,'.repeat(600_000)}1]`;
    expect(scan(`{"data":[{"embedding":${numbers}}]}`)).toMatchObject({ isWithin: true, values: 4 });
    expect(scan(`{"data":[[${numbers}]],"x":[]}`).isWithin).toBe(true);
    for (const item of ['{}', '"a"', 'null', '[]']) {
      expect(scan(`{"data":[${`${item},`.repeat(500_000)}1]}`).isWithin, item).toBe(false);
    }
    expect(scan(`{"data":${'['.repeat(70)}${']'.repeat(70)}}`).isWithin).toBe(false);
  });

  test.each(['', '[]', '{', '{"data":[1]', '{"a":1,}', '{"a":}', '{}{}', '{"a" 1}', '1', '{"data":[]}x'])(
    'finds no whole object in %s',
    (text) => expect(scan(text).span).toBeUndefined(),
  );

  test('accepts an empty object', () => expect(scan(' {} ').span).toMatchObject({ open: 1, close: 2, members: [] }));

  test.each([
    ['an error', '{"error":{"message":"no"}}', 'failed'],
    ['a model that is no JSON', '{"data":[],"model":x}', 'garbled'],
    ['extensions beyond 64 KiB', `{"data":[],"extensions":{"x":"${'x'.repeat(70_000)}"}}`, 'garbled'],
  ])('fails for %s', (_name, text, reason) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ reason }));
  });

  test.each([
    '{"data":[],"model":"a","mod\\u0065l":"b"}',
    '{"data":[],"usage":{"prompt_tokens":1,"prompt_tokens":2}}',
    '{"data":[],"extensions":{"compliance_metadata":1,"compliance_metadata":2}}',
  ])('calls %s ambiguous', (text) => expect(read(text)).toEqual({ isAmbiguous: true }));

  test('keeps neither long keys nor long values that are not read', () => {
    const long = 'x'.repeat(1_000_000);
    expect(scan(`{"${long}":1,"y":"${long}","data":["${long}"]}`).span?.members.map(({ key }) => key)).toEqual([
      'data',
    ]);
  });
});
