import { expect, test } from 'vitest';
import { readUsage } from './token-usage.ts';

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
