import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MessageDigest } from './message-digest.ts';
import { type MessagePiece, readDeltas, readMessages } from './message-piece.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const digestOf = (pieces: readonly MessagePiece[]): string | undefined => {
  const digest = new MessageDigest();
  for (const piece of pieces) digest.add(piece);
  return digest.value();
};
const piece = (more: Partial<MessagePiece>): MessagePiece => ({
  choice: 0,
  content: '',
  refusal: '',
  calls: [],
  ...more,
});

describe('the canonical form', () => {
  test.each([
    [[], '[]'],
    [[piece({})], '[{"content":null,"index":0,"refusal":null,"tool_calls":[]}]'],
    [
      [piece({ content: 'è "x"\n\u0007/' }), piece({ content: '\u2028😀' })],
      '[{"content":"è \\"x\\"\\n\\u0007/\u2028😀","index":0,"refusal":null,"tool_calls":[]}]',
    ],
    [
      [piece({ choice: 1, refusal: 'No.' }), piece({ choice: 0, content: 'Yes.' })],
      '[{"content":"Yes.","index":0,"refusal":null,"tool_calls":[]},{"content":null,"index":1,"refusal":"No.","tool_calls":[]}]',
    ],
    [
      [
        piece({ calls: [{ index: 1, id: '', name: 'b', arguments: '' }] }),
        piece({ calls: [{ index: 0, id: '', name: 'a', arguments: '{"x":' }] }),
        piece({ calls: [{ index: 0, id: '', name: '', arguments: '1.0}' }] }),
      ],
      '[{"content":null,"index":0,"refusal":null,"tool_calls":[{"arguments":"{\\"x\\":1.0}","name":"a"},{"arguments":"","name":"b"}]}]',
    ],
  ])('of %j is %s', (pieces, form) => {
    expect(digestOf(pieces)).toBe(sha256(form));
  });

  test('begins with content of any length, however it is split', () => {
    const unit = fc.constantFrom('a', '"', '\\', '\n', 'è', '€', '\ud83d', '\ude00', '\u0000', '\u2028');
    const text = fc
      .array(unit, { minLength: 1, maxLength: 40 })
      .map((units) => units.join('').repeat(units.length % 2 === 0 ? 1 : 300));
    fc.assert(
      fc.property(
        text,
        fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 30_000 })),
        (content, length) => {
          const pieces = Array.from({ length: Math.ceil(content.length / length) }, (_, at) =>
            content.slice(at * length, (at + 1) * length),
          );
          const form = `[{"content":${JSON.stringify(content)},"index":0,"refusal":null,"tool_calls":[]}]`;
          const digest = new MessageDigest();
          for (const [at, text] of pieces.entries()) {
            const isPlain = at % 2 === 0 && JSON.stringify(text) === `"${text}"`;
            if (isPlain) digest.addPlain(0, Buffer.from(text));
            else digest.add(piece({ content: text }));
          }
          expect(digest.value()).toBe(sha256(form));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('has a limit of what is kept of an answer', () => {
    const long = 'x'.repeat(3 * 1024 * 1024);
    expect(digestOf([piece({ content: long }), piece({ content: long })])).toBeDefined();
    expect(digestOf([piece({ choice: 1, content: long }), piece({ choice: 1, content: long })])).toBeUndefined();
  });
});

test('reads the same message whole as in deltas', () => {
  const call = (index: number, name: string, args: unknown) => ({
    index,
    id: `c${index}`,
    function: { name, arguments: args },
  });
  const message = {
    content: [
      { type: 'text', text: 'Hello ' },
      { type: 'thinking', thinking: 'no' },
      { type: 'text', text: 'you' },
    ],
    tool_calls: [call(0, 'a', '{"x": 1.0}'), call(1, 'b', { b: [1, null], a: 'x' })],
  };
  const whole = digestOf(readMessages([{ index: 2, message }]));
  const deltas = [
    { role: 'assistant', content: '' },
    { content: 'Hello ' },
    { content: [{ type: 'text', text: 'you' }] },
    { tool_calls: [call(0, 'a', '')] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x": ' } }] },
    { tool_calls: [{ function: { arguments: '1.0}' } }] },
    { tool_calls: [{ id: 'c1', function: { name: 'b', arguments: { a: 'x', b: [1, null] } } }] },
  ];
  expect(digestOf(deltas.flatMap((delta) => readDeltas([{ index: 2, delta }])))).toBe(whole);
  expect(whole).toBe(
    sha256(
      `[{"content":"Hello you","index":2,"refusal":null,"tool_calls":[{"arguments":"{\\"x\\": 1.0}","name":"a"},{"arguments":"{\\"a\\":\\"x\\",\\"b\\":[1,null]}","name":"b"}]}]`,
    ),
  );
});
