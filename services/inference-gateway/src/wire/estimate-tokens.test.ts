import { describe, expect, test } from 'vitest';
import { boundInputTokens, estimateInputTokens, estimateUsage, mediaOf, NO_MEDIA } from './estimate-tokens.ts';

const read = (...messages: object[]) => ({ body: Buffer.from(JSON.stringify({ messages })), media: mediaOf(messages) });
const bound = (content: unknown): number => {
  const { body, media } = read({ role: 'user', content });
  return boundInputTokens(body, media);
};
const base64 = (bytes: number): string => `data:image/png;base64,${'A'.repeat(bytes)}`;

test('text counts by its bytes', () => {
  const { body, media } = read({ role: 'user', content: 'x'.repeat(4_000) });
  expect(media).toEqual(NO_MEDIA);
  expect(boundInputTokens(body, media)).toBe(body.length);
  expect(estimateInputTokens(body, media)).toBe(Math.ceil(body.length / 4));
});

describe('media count the same, whatever their size', () => {
  test.each([
    ['an image', (size: number) => ({ type: 'image_url', image_url: { detail: 'low', url: base64(size) } })],
    ['an image in the flat form', (size: number) => ({ type: 'image_url', image_url: base64(size) })],
    ['a file', (size: number) => ({ type: 'file', file: { filename: 'a.pdf', file_data: base64(size) } })],
    ['a sound', (size: number) => ({ type: 'input_audio', input_audio: { data: 'A'.repeat(size), format: 'wav' } })],
  ])('%s', (_name, part) => {
    const small = bound([part(100)]);
    expect(bound([part(1_000_000)])).toBe(small);
    expect(small).toBeGreaterThan(4_096);
    expect(small).toBeLessThan(4_400);
    expect(bound([part(100), part(100)])).toBeGreaterThan(2 * 4_096);
  });

  test('an image that is only linked', () => {
    expect(bound([{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }])).toBeGreaterThan(4_096);
  });
});

describe('what only looks like media is text, byte for byte', () => {
  const long = 'x'.repeat(10_000);
  test.each([
    ['the content of a message', [{ role: 'user', content: `data:${long}` }]],
    ['a quoted one', [{ role: 'user', content: `"url":"data:${long}"` }]],
    ['a part of text', [{ role: 'user', content: [{ type: 'text', text: `data:image/png;base64,${long}` }] }]],
    ['another member of a message', [{ role: 'tool', content: 'x', url: `data:${long}` }]],
    ['a part of no known kind', [{ role: 'assistant', content: [{ type: 'thinking', thinking: { data: long } }] }]],
    ['an address that carries nothing', [{ role: 'user', content: [{ type: 'image_url', image_url: null }, long] }]],
  ])('%s', (_name, messages) => {
    const { body, media } = read(...messages);
    expect(media.bytes).toBe(0);
    expect(boundInputTokens(body, media)).toBeGreaterThanOrEqual(body.length);
  });
});

test('an answer without usage costs its input and a token for every four bytes, rounded up', () => {
  expect(estimateUsage(7, 9)).toEqual({ input: 7, output: 3 });
});
