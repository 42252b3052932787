import { expect, test } from 'vitest';
import { boundInputTokens, estimateInputTokens, estimateUsage } from './estimate-tokens.ts';

const bodyOf = (content: unknown): Buffer => Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }));
const image = (url: string) => [{ type: 'image_url', image_url: { url } }];

test('text counts by its bytes', () => {
  const body = bodyOf('x'.repeat(4_000));
  expect(boundInputTokens(body)).toBe(body.length);
  expect(estimateInputTokens(body)).toBe(Math.ceil(body.length / 4));
});

test('an image counts the same, whatever its size and wherever it is', () => {
  const small = boundInputTokens(bodyOf(image(`data:image/png;base64,${'A'.repeat(100)}`)));
  const large = boundInputTokens(bodyOf(image(`data:image/png;base64,${'A'.repeat(1_000_000)}`)));
  const linked = boundInputTokens(bodyOf(image('https://example.org/a.png')));
  expect(large).toBe(small);
  expect(linked).toBeGreaterThan(4_096);
});

test('text that looks like a data URL is text', () => {
  const body = bodyOf(`"data:${'x'.repeat(1_000)}`);
  expect(boundInputTokens(body)).toBe(body.length);
});

test('an answer without usage costs its input and a token for every four bytes, rounded up', () => {
  expect(estimateUsage(7, 9)).toEqual({ input: 7, output: 3 });
});
