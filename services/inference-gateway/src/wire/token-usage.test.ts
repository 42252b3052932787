import { expect, test } from 'vitest';
import { readUsage } from './token-usage.ts';

test.each([
  ['both counts', { prompt_tokens: 5, completion_tokens: 7, total_tokens: 99 }, { input: 5, output: 7 }],
  ['an embedding', { prompt_tokens: 5, total_tokens: 5 }, { input: 5, output: 0 }],
  ['a total that tells of the output', { prompt_tokens: 5, total_tokens: 12 }, { input: 5, output: 7 }],
  ['null beside a total', { prompt_tokens: 5, completion_tokens: null, total_tokens: 12 }, { input: 5, output: 7 }],
  ['a total that is less than its part', { prompt_tokens: 5, total_tokens: 3 }, { input: 5, output: 0 }],
  ['the input alone', { prompt_tokens: 5 }, { input: 5, output: 0 }],
])('%s is read', (_, usage, expected) => expect(readUsage(usage)).toEqual(expected));

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a list', [{ prompt_tokens: 5 }]],
  ['no count of the input', { completion_tokens: 7, total_tokens: 12 }],
  ['a negative count', { prompt_tokens: -1 }],
  ['half a token', { prompt_tokens: 5, completion_tokens: 0.5 }],
  ['text', { prompt_tokens: '5' }],
  ['more than any context holds', { prompt_tokens: 5, completion_tokens: 1e10 }],
])('%s is no usage', (_, usage) => expect(readUsage(usage)).toBeUndefined());
