import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { readResponse } from './read-response.ts';

const LIMITS = { outputTokensMax: Number.POSITIVE_INFINITY, contextTokensMax: 1_000, digestsMessages: true };
const read = (text: string) => readResponse(Buffer.from(text), LIMITS);

describe('readAnswer', () => {
  test.each([
    ['repeats a member 100,000 times', `{"choices":[]${',"model":"m"'.repeat(100_000)}}`],
    ['has 100,000 other members', `{"choices":[],"model":"m"${',"other":1'.repeat(100_000)}}`],
    ['has an id of 100,000 values', `{"choices":[],"model":"m","id":[${'0,'.repeat(100_000)}0]}`],
    ['has a model of a megabyte', `{"choices":[],"model":"${'m'.repeat(1_000_000)}"}`],
    ['has extensions of 100,000 values', `{"choices":[],"extensions":{"a":[${'0,'.repeat(100_000)}0]}}`],
    ['has usage of 100,000 members', `{"choices":[],"usage":{"prompt_tokens":1${',"a":1'.repeat(100_000)}}}`],
  ])('returns a small reading of an answer that %s', (_name, text) => {
    expect(serialize(read(text)).length).toBeLessThan(4_096);
  });

  test('returns the id and the model of an answer', () => {
    expect(read('{"id":"a","model":"m","choices":[]}')).toMatchObject({ id: 'a', model: 'm', isAmbiguous: false });
  });
});
