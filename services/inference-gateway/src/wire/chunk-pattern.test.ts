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

test('recognizes a chunk that differs only in its text', () => {
  const { textOf } = learnt(written('one'));
  expect(textOf(written('two'))?.toString()).toBe('two');
  expect(textOf(written(''))?.toString()).toBe('');
  expect(textOf(written('zwölf, 十二 \u2028'))?.toString()).toBe('zwölf, 十二 \u2028');
});

test('recognizes nothing before it has learnt a chunk', () => {
  expect(createChunkPattern().textOf(written('one'))).toBeUndefined();
});

test.each([
  ['a quote', '"'],
  ['a backslash', '\\'],
  ['a line feed', 'a\nb'],
  ['a control character', '\u0001'],
])('leaves a text with %s to the parser', (_, text) => {
  expect(learnt(written('one')).textOf(written(text))).toBeUndefined();
});

test.each([
  ['a byte that must be escaped', Buffer.of(0x09)],
  ['broken UTF-8', Buffer.of(0xc3)],
  ['the end of the text and more', Buffer.from('x","refusal":"no')],
])('leaves %s in place of the text to the parser', (_, middle) => {
  const [before, after] = written('?').toString().split('?');
  const data = Buffer.concat([Buffer.from(before ?? ''), middle, Buffer.from(after ?? '')]);
  expect(learnt(written('one')).textOf(data)).toBeUndefined();
});

test.each([
  ['another model', written('two', { model: 'n' })],
  ['a finish reason', written('two', {}, { finish_reason: 'stop' })],
  ['usage', written('two', { usage: { total_tokens: 3 } })],
  ['another choice', written('two', {}, { index: 1 })],
  ['less than the pattern', Buffer.from('{"id":"c1","cho')],
  ['no bytes', Buffer.alloc(0)],
])('does not recognize a chunk with %s', (_, data) => {
  expect(learnt(written('one')).textOf(data)).toBeUndefined();
});

test.each([
  ['usage', written('one', { usage: {} })],
  ['a finish reason', written('one', {}, { finish_reason: 'stop' })],
  ['other generated text', written('one', {}, { delta: { content: 'one', refusal: 'two' } })],
  ['no text', written('one', {}, { delta: {} })],
  ['an empty text, like the one with the role', written('')],
  ['two choices', Buffer.from('{"choices":[{"delta":{"content":"one"}},{"delta":{"content":"two"}}]}')],
  ['an escaped text', Buffer.from('{"choices":[{"delta":{"content":"\\u006fne"}}]}')],
  ['the same string again after its text', written('one', { system_fingerprint: 'one' })],
  ['a text that also appears between members', written(':', { system_fingerprint: 'one' })],
  ['the sample as its text', written(SAMPLE_TEXT, { system_fingerprint: SAMPLE_TEXT })],
])('does not learn a chunk with %s', (_, data) => {
  const { sample, textOf } = learnt(data);
  expect(sample).toBeUndefined();
  expect(textOf(data)).toBeUndefined();
});

test('returns the learnt chunk with the sample as its text', () => {
  const { sample } = learnt(written('one', { usage: null }));
  expect(sample).toEqual(parseChunk(written(SAMPLE_TEXT, { usage: null })));
});

test('keeps the pattern when the learnt bytes are overwritten', () => {
  const data = written('one');
  const { textOf } = learnt(data);
  data.fill(0);
  expect(textOf(written('two'))?.toString()).toBe('two');
});

test('stops learning after four attempts', () => {
  const pattern = createChunkPattern();
  const samples = Array.from({ length: 10 }, (_, i) => {
    const data = written('one', { p: 'x'.repeat(i) });
    return pattern.learn(data, parseChunk(data));
  });
  expect(samples.filter((sample) => sample !== undefined)).toHaveLength(4);
});
