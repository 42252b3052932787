import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { digestRequest } from './digest-request.ts';

const MEMBERS = new Set(['model', 'stream_options']);
const digest = (text: string) => digestRequest(Buffer.from(text), { kind: 'chat', members: MEMBERS });
const read = (members: string) => {
  const reading = digest(`{"model":"m","messages":[{}],${members}}`);
  if (!reading.ok) throw new Error(JSON.stringify(reading.issues));
  return reading.digest;
};

describe('digestRequest', () => {
  test.each([
    ['a model of a megabyte', `{"model":"${'m'.repeat(1_000_000)}","messages":[{}]}`],
    [
      'a key of a megabyte, twice',
      `{"model":"m","messages":[{}],"${'k'.repeat(1_000_000)}":1,"${'k'.repeat(1_000_000)}":2}`,
    ],
    [
      '100,000 keys',
      `{"model":"m","messages":[{}],${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
    ],
    ['100,000 invalid messages', `{"model":"m","messages":[${'1,'.repeat(100_000)}1]}`],
    ['100,000 options', `{"model":"m","messages":[{}],"stream_options":{"a":0${',"b":1'.repeat(100_000)}}}`],
  ])('returns a small digest of a request with %s', (_name, text) => {
    expect(serialize(digest(text)).length).toBeLessThan(20_000);
  });

  test.each([
    ['max_tokens', '1e400'],
    ['max_completion_tokens', '1e400'],
    ['max_tokens', '"1e400"'],
    ['max_tokens', '"Infinity"'],
  ])('reads %s of %s as an infinite limit, not as a missing one', (member, value) => {
    expect(read(`"${member}":${value}`).outputTokensMax).toBe(Number.POSITIVE_INFINITY);
  });

  test.each(['1e400', '1e308', '"9e99"'])('reads n of %s as the maximum number of answers', (value) => {
    expect(read(`"n":${value}`).choicesWanted).toBe(2_048);
  });

  test.each(['0', '-1', '-1e400', 'null', '"many"', '{}', '1e-400'])('reads max_tokens of %s as no limit', (value) => {
    expect(read(`"max_tokens":${value}`).outputTokensMax).toBeUndefined();
  });

  test.each([
    ['model', '"mod\\u0065l":"n"'],
    ['stream_options', '"stream_options":{},"stream_opt\\u0069ons":{}'],
    ['include_usage', '"stream_options":{"include_usage":true,"inclu\\u0064e_usage":false}'],
    ['messages', '"messages":[{}]'],
  ])('rejects a request that repeats %s, even if it is escaped', (key, members) => {
    const reading = digest(`{"model":"m","messages":[{}],${members}}`);
    expect(reading).toMatchObject({ ok: false });
    expect(JSON.stringify(reading)).toContain(key);
  });

  test('accepts lone surrogates and numbers out of range in members that it does not read', () => {
    expect(digest('{"model":"m","messages":[{"content":"\\ud800"}],"seed":-1e999,"x":"\\udc00"}').ok).toBe(true);
  });
});
