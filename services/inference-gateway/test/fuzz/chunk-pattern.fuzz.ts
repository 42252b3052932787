import { BOUND, damaged, damages } from '@svc/testing/fuzz';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createChunkRewriter } from '../../src/delegated-requests/create-chunk-rewriter.ts';
import { rewriteLargeEvent } from '../../src/delegated-requests/rewrite-completion.ts';
import { type Chunk, createChunkPattern, parseChunk } from '../../src/wire/index.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom('', '"', '\\', 'stop', 'content', '\u0001sample\u0001', '":"', '\u007f', '\ufffd'),
);
const members = fc.dictionary(
  fc.constantFrom('id', 'model', 'content', 'usage', 'refusal', 'finish_reason', '__proto__', 'text'),
  fc.oneof(text, fc.constantFrom(null, 1, {})),
  { maxKeys: 3 },
);

/** Functions that serialize the same chunk with different texts. */
const template = fc
  .record({
    outer: members,
    inner: members,
    delta: members,
    space: fc.constantFrom('', ' ', '\n'),
    isLast: fc.boolean(),
  })
  .map(({ outer, inner, delta, space, isLast }) => (content: string) => {
    const last = isLast ? { ...delta, content } : { content, ...delta };
    return Buffer.from(JSON.stringify({ ...outer, choices: [{ delta: last, ...inner }] }, undefined, space));
  });

const parsed = (data: Buffer): Chunk | undefined => {
  try {
    return parseChunk(data);
  } catch {
    return undefined;
  }
};

const withText = ({ choices: [choice], ...chunk }: Chunk, content: string): Chunk => {
  // Called only for learnt chunks, whose only choice has a delta.
  const { delta, ...rest } = choice as { delta: object };
  return { ...chunk, choices: [{ ...rest, delta: { ...delta, content } }] };
};

test('recognizes the same chunk by its bytes as the parser reads', () => {
  let known = 0;
  fc.assert(
    fc.property(template, text, text, damages, (write, first, second, changes) => {
      const data = write(first);
      const chunk = parsed(data);
      if (chunk === undefined) return;
      const pattern = createChunkPattern();
      if (pattern.learn(data, chunk) === undefined) return;
      const next = damaged(write(second), changes);
      const found = pattern.textOf(next);
      if (found === undefined) return;
      known += 1;
      expect(parsed(next)).toEqual(withText(chunk, found.toString()));
    }),
    BOUND,
  );
  expect(known).toBeGreaterThan(100);
});

test('rewrites consecutive chunks the same as each chunk alone', () => {
  const options = { id: 'chatcmpl-1', created: 1, showsUsage: true, tokensMax: 1_000_000 };
  const open = () =>
    createChunkRewriter({
      ...options,
      proof: undefined,
      rewriteLarge: async (data, calls) => rewriteLargeEvent(data, { ...options, readsPieces: false, calls }),
    });
  fc.assert(
    fc.property(template, fc.array(text, { maxLength: 6 }), (write, texts) => {
      const chunks = texts.map(write).filter((data) => parsed(data) !== undefined);
      const together = open();
      let outputBytes = 0;
      for (const data of chunks) {
        const alone = open();
        expect(together.edit(data, data) ?? '').toBe(alone.edit(data, data) ?? '');
        outputBytes += alone.tally.outputBytes;
      }
      expect(together.tally.outputBytes).toBe(outputBytes);
    }),
    BOUND,
  );
});
