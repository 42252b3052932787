import { describe, expect, test } from 'vitest';
import { scanObject } from './json-members.ts';
import { readStreamOptions, toUpstreamBody, wantsUsage } from './upstream-body.ts';

const bodyOf = (text: string) => {
  const bytes = Buffer.from(text);
  const span = scanObject(bytes);
  return { bytes, span, streamOptions: readStreamOptions(bytes, span) };
};
const COMMON = { model: 'm-1', outputLimitMember: 'max_tokens', memberNames: {} } as const;
const upstream = (text: string, requestsUsage: boolean): string =>
  Buffer.concat(toUpstreamBody(bodyOf(text), { ...COMMON, requestsUsage })).toString();

const asks = (text: string): boolean => {
  const { bytes, streamOptions } = bodyOf(text);
  return wantsUsage(bytes, streamOptions);
};

describe('toUpstreamBody', () => {
  test('adds what is missing in front and leaves the rest as it came', () => {
    expect(upstream('{ "messages":[{"content":"\\u00e9  x"}],"temperature":1.0 }', true)).toBe(
      '{"model":"m-1","stream_options":{"include_usage":true}, "messages":[{"content":"\\u00e9  x"}],"temperature":1.0 }',
    );
    expect(upstream('{}', false)).toBe('{"model":"m-1"}');
  });

  test('limits the output of a request that sets no limit, by the name that it uses or that the provider knows', () => {
    const limited = (text: string, options: object = {}): string =>
      Buffer.concat(
        toUpstreamBody(bodyOf(text), { ...COMMON, requestsUsage: false, outputTokensMax: 300, ...options }),
      ).toString();
    expect(limited('{"a":1}')).toBe('{"model":"m-1","max_tokens":300,"a":1}');
    expect(limited('{"a":1}', { outputLimitMember: 'max_completion_tokens' })).toBe(
      '{"model":"m-1","max_completion_tokens":300,"a":1}',
    );
    expect(limited('{"max_completion_tokens": null,"model":"x"}')).toBe('{"max_completion_tokens": 300,"model":"m-1"}');
    const memberNames = { max_completion_tokens: 'max_tokens' };
    expect(limited('{"max_completion_tokens":null,"model":"x"}', { memberNames })).toBe(
      '{"max_tokens":300,"model":"m-1"}',
    );
    expect(limited('{"max_completion_tokens":null,"max_tokens":null,"model":"x"}', { memberNames })).toBe(
      '{"max_tokens":300,"model":"m-1"}',
    );
  });

  test('replaces the model where it stands, before or behind other replacements', () => {
    expect(upstream('{"stream_options":null,"model":"x","a":1}', true)).toBe(
      '{"stream_options":{"include_usage":true},"model":"m-1","a":1}',
    );
    expect(upstream('{"model":"x","stream_options":{"include_usage":false,"y":[1]}}', true)).toBe(
      '{"model":"m-1","stream_options":{"include_usage":true,"y":[1]}}',
    );
  });

  test('leaves what stands beside the wish for usage as it came', () => {
    const others = '"big" : 12345678901234567890, "y":1.0';
    expect(upstream(`{"model":"x","stream_options": { ${others} }}`, true)).toBe(
      `{"model":"m-1","stream_options": {"include_usage":true, ${others} }}`,
    );
    expect(upstream(`{"stream_options":{${others}, "include_usage" : null},"model":"x"}`, true)).toBe(
      `{"stream_options":{${others}, "include_usage" : true},"model":"m-1"}`,
    );
    expect(upstream('{"a":1,"stream_options":{ }}', true)).toBe(
      '{"model":"m-1","a":1,"stream_options":{"include_usage":true }}',
    );
  });

  test('leaves stream options alone that ask for usage, that make no sense, or where there is no stream', () => {
    expect(upstream('{"model":"x","stream_options":{ "include_usage" : true }}', true)).toBe(
      '{"model":"m-1","stream_options":{ "include_usage" : true }}',
    );
    expect(upstream('{"model":"x","stream_options":"odd"}', true)).toBe('{"model":"m-1","stream_options":"odd"}');
    expect(upstream('{"model":"x"}', false)).toBe('{"model":"m-1"}');
  });
});

test('usage is shown only where it was asked for', () => {
  expect(asks('{"stream_options":{"include_usage":true}}')).toBe(true);
  expect(asks('{"stream_options":{"include_usage":1}}')).toBe(false);
  expect(asks('{"stream_options":{"include_usage":true,"include_usage":false}}')).toBe(false);
  expect(asks('{"stream_options":null}')).toBe(false);
  expect(asks('{"stream_options":["include_usage"]}')).toBe(false);
  expect(asks('{}')).toBe(false);
});
