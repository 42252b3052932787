import { expect, test } from 'vitest';
import { createChunkPattern, SAMPLE_TEXT } from './chunk-pattern.ts';
import { parseChunk } from './stream-tally.ts';

const written = (text: string, more: object = {}, choice: object = {}) =>
  Buffer.from(
    JSON.stringify({
      id: 'c1',
      choices: [{ index: 0, delta: { content: text }, finish_reason: null, ...choice }],
      model: 'm',
      ...more,
    }),
  );
const learnt = (data: Buffer) => {
  const pattern = createChunkPattern();
  return { ...pattern, sample: pattern.learn(data, parseChunk(data)) };
};

test('a chunk that differs in its text alone is known by its bytes', () => {
  const { textOf } = learnt(written('one'));
  expect(textOf(written('two'))?.toString()).toBe('two');
  expect(textOf(written(''))?.toString()).toBe('');
  expect(textOf(written('zwölf, 十二 \u2028'))?.toString()).toBe('zwölf, 十二 \u2028');
});

test('nothing is known before a chunk is learnt', () => {
  expect(createChunkPattern().textOf(written('one'))).toBeUndefined();
});

test.each([
  ['a quote', '"'],
  ['a backslash', '\\'],
  ['a line feed', 'a\nb'],
  ['a control character', '\u0001'],
])('a text with %s is left to the parser', (_, text) => {
  expect(learnt(written('one')).textOf(written(text))).toBeUndefined();
});

test.each([
  ['a byte that must be escaped', Buffer.of(0x09)],
  ['broken UTF-8', Buffer.of(0xc3)],
  ['the end of the text and more', Buffer.from('x","refusal":"no')],
])('%s in place of the text is left to the parser', (_, middle) => {
  const [before, after] = written('?').toString().split('?');
  const data = Buffer.concat([Buffer.from(before ?? ''), middle, Buffer.from(after ?? '')]);
  expect(learnt(written('one')).textOf(data)).toBeUndefined();
});

test.each([
  ['another model', written('two', { model: 'n' })],
  ['an end', written('two', {}, { finish_reason: 'stop' })],
  ['usage', written('two', { usage: { total_tokens: 3 } })],
  ['another choice', written('two', {}, { index: 1 })],
  ['less than the pattern', Buffer.from('{"id":"c1","cho')],
  ['nothing', Buffer.alloc(0)],
])('%s makes it another chunk', (_, data) => {
  expect(learnt(written('one')).textOf(data)).toBeUndefined();
});

test.each([
  ['usage', written('one', { usage: {} })],
  ['an end', written('one', {}, { finish_reason: 'stop' })],
  ['other text that counts', written('one', {}, { delta: { content: 'one', refusal: 'two' } })],
  ['no text', written('one', {}, { delta: {} })],
  ['an empty text, as that with the role', written('')],
  ['two choices', Buffer.from('{"choices":[{"delta":{"content":"one"}},{"delta":{"content":"two"}}]}')],
  ['its text written another way', Buffer.from('{"choices":[{"delta":{"content":"\\u006fne"}}]}')],
  ['the same string once more behind its text', written('one', { system_fingerprint: 'one' })],
  ['a text that stands between members too', written(':', { system_fingerprint: 'one' })],
  ['the stand-in for a text', written(SAMPLE_TEXT, { system_fingerprint: SAMPLE_TEXT })],
])('a chunk with %s is not learnt', (_, data) => {
  const { sample, textOf } = learnt(data);
  expect(sample).toBeUndefined();
  expect(textOf(data)).toBeUndefined();
});

test('what was learnt is told with another text', () => {
  const { sample } = learnt(written('one', { usage: null }));
  expect(sample).toEqual(parseChunk(written(SAMPLE_TEXT, { usage: null })));
});

test('the bytes that were learnt from may be written over', () => {
  const data = written('one');
  const { textOf } = learnt(data);
  data.fill(0);
  expect(textOf(written('two'))?.toString()).toBe('two');
});

test('chunks that differ in more than their text are not learnt for ever', () => {
  const pattern = createChunkPattern();
  const samples = Array.from({ length: 10 }, (_, i) => {
    const data = written('one', { p: 'x'.repeat(i) });
    return pattern.learn(data, parseChunk(data));
  });
  expect(samples.filter((sample) => sample !== undefined)).toHaveLength(4);
});
