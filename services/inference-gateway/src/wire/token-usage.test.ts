import { describe, expect, test } from 'vitest';
import { chatSize, textSize } from './request-bounds.ts';
import { boundInputTokens, estimateInputTokens, estimateUsage, IMAGE_TOKENS_MAX, readUsage } from './token-usage.ts';

const TOKENS_MAX = 1_000;

test.each([
  ['both counts', { prompt_tokens: 5, completion_tokens: 7, total_tokens: 99 }, { input: 5, output: 7 }],
  ['an embedding', { prompt_tokens: 5, total_tokens: 5 }, { input: 5, output: 0 }],
  ['a total that implies the output', { prompt_tokens: 5, total_tokens: 12 }, { input: 5, output: 7 }],
  ['null beside a total', { prompt_tokens: 5, completion_tokens: null, total_tokens: 12 }, { input: 5, output: 7 }],
  ['a full context', { prompt_tokens: 400, completion_tokens: 600 }, { input: 400, output: 600 }],
  [
    'cached input and reasoning',
    {
      prompt_tokens: 50,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 48, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
    { input: 50, output: 7, cachedInput: 48, reasoning: 5 },
  ],
  [
    'details that are null',
    { prompt_tokens: 5, completion_tokens: 0, prompt_tokens_details: null },
    { input: 5, output: 0 },
  ],
  [
    'usage without a part that exceeds its whole',
    { prompt_tokens: 5, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 6 } },
    { input: 5, output: 0 },
  ],
  [
    'usage without a part that is a string',
    { prompt_tokens: 5, completion_tokens: 0, prompt_tokens_details: { cached_tokens: '5' } },
    { input: 5, output: 0 },
  ],
])('reads %s', (_, usage, expected) => expect(readUsage(usage, TOKENS_MAX)).toEqual(expected));

test.each([
  ['undefined', undefined],
  ['null', null],
  ['a list', [{ prompt_tokens: 5 }]],
  ['the input alone, which would make the output free', { prompt_tokens: 5 }],
  ['no count of the input', { completion_tokens: 7, total_tokens: 12 }],
])('reads no usage from %s', (_, usage) => expect(readUsage(usage, TOKENS_MAX)).toBeUndefined());

test.each([
  ['a negative count', { prompt_tokens: -1 }],
  ['a total that is less than its part', { prompt_tokens: 5, total_tokens: 3 }],
  ['half a token', { prompt_tokens: 5, completion_tokens: 0.5 }],
  ['a string', { prompt_tokens: '5' }],
  ['a sum beyond the context', { prompt_tokens: 401, completion_tokens: 600 }],
  ['a total beyond the context', { prompt_tokens: 5, total_tokens: 1_001 }],
  ['an unsafe integer', { prompt_tokens: 5, completion_tokens: 2 ** 53 }],
])('finds %s implausible', (_, usage) => expect(readUsage(usage, TOKENS_MAX)).toBe('implausible'));

const RULE = { imageTokensMax: IMAGE_TOKENS_MAX };

const sizeOf = (...messages: object[]) => {
  const body = JSON.stringify({ messages });
  return { bodyBytes: body.length, size: chatSize(body.length, messages) };
};
const boundOf = (content: unknown): number => boundInputTokens(sizeOf({ role: 'user', content }).size, RULE);
const dataUrl = (characters: number): string => `data:image/png;base64,${'A'.repeat(characters)}`;

test('counts text by its bytes', () => {
  const { bodyBytes, size } = sizeOf({ role: 'user', content: 'x'.repeat(4_000) });
  expect(size).toEqual(textSize(bodyBytes));
  expect(boundInputTokens(size, RULE)).toBe(bodyBytes);
  expect(estimateInputTokens(size, RULE)).toBe(Math.ceil(bodyBytes / 4));
});

describe('counts an image at the maximum of the rule, regardless of its size', () => {
  test.each([
    ['in the common form', (length: number) => ({ type: 'image_url', image_url: { url: dataUrl(length) } })],
    ['in the flat form', (length: number) => ({ type: 'image_url', image_url: dataUrl(length) })],
    ['by a link', () => ({ type: 'image_url', image_url: { url: 'https://example.org/a.png' } })],
    ['in an unknown type', () => ({ type: 'input_image', image_url: 'https://example.org/a.png' })],
  ])('%s', (_name, part) => {
    const small = boundOf([part(100)]);
    expect(boundOf([part(1_000_000)])).toBe(small);
    expect(small).toBeGreaterThan(IMAGE_TOKENS_MAX);
    expect(small).toBeLessThan(IMAGE_TOKENS_MAX + 200);
    expect(boundOf([part(100), part(100)])).toBeGreaterThan(2 * IMAGE_TOKENS_MAX);
  });

  test('by the rule of the provider', () => {
    const { size } = sizeOf({ role: 'user', content: [{ type: 'image_url', image_url: dataUrl(100) }] });
    const common = boundInputTokens(size, RULE);
    expect(boundInputTokens(size, { imageTokensMax: 48_169 }) - common).toBe(48_169 - IMAGE_TOKENS_MAX);
  });
});

describe('counts a file as one token for every four decoded bytes', () => {
  const LENGTH = 4_000_000;
  test.each([
    ['a document', { type: 'file', file: { filename: 'a.pdf', file_data: dataUrl(LENGTH) } }],
    ['a document without the prefix of a data URL', { type: 'file', file: { file_data: 'A'.repeat(LENGTH) } }],
    ['audio', { type: 'input_audio', input_audio: { data: 'A'.repeat(LENGTH), format: 'wav' } }],
    ['video', { type: 'video_url', video_url: { url: dataUrl(LENGTH) } }],
  ])('%s', (_name, part) => {
    const bound = boundOf([part]);
    expect(bound).toBeGreaterThanOrEqual((LENGTH * 3) / 4 / 4);
    expect(bound).toBeLessThan((LENGTH * 3) / 4 / 4 + 200);
  });

  test('counts a linked file as the usual context of a model', () => {
    expect(boundOf([{ type: 'document_url', document_url: 'https://example.org/a.pdf' }])).toBeGreaterThan(131_072);
    expect(boundOf([{ type: 'file', file: { file_id: 'file-1' } }])).toBeGreaterThan(131_072);
  });
});

describe('counts text that looks like media by its bytes', () => {
  const long = 'x'.repeat(10_000);
  test.each([
    ['the content of a message', [{ role: 'user', content: `data:${long}` }]],
    ['a quoted data URL', [{ role: 'user', content: `"url":"data:${long}"` }]],
    ['a part of text', [{ role: 'user', content: [{ type: 'text', text: `data:image/png;base64,${long}` }] }]],
    ['another member of a message', [{ role: 'tool', content: 'x', url: `data:${long}` }]],
    ['a part of thinking', [{ role: 'assistant', content: [{ type: 'thinking', thinking: { data: long } }] }]],
    ['an empty image', [{ role: 'user', content: [{ type: 'image_url', image_url: null }, long] }]],
  ])('%s', (_name, messages) => {
    const { bodyBytes, size } = sizeOf(...messages);
    expect(size.textBytes).toBe(bodyBytes);
  });
});

test('estimates the output as one token for every four bytes, rounded up', () => {
  expect(estimateUsage(7, 9)).toEqual({ input: 7, output: 3 });
});
