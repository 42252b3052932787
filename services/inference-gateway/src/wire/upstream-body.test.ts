import { describe, expect, test } from 'vitest';
import { applyEdits, scanObject } from './json-members.ts';
import { readStreamOptions, renameMembers, toUpstreamBody, wantsUsage } from './upstream-body.ts';

const bodyOf = (text: string) => {
  const bytes = Buffer.from(text);
  const span = scanObject(bytes);
  return { bytes, span, streamOptions: readStreamOptions(bytes, span) };
};
const COMMON = { model: 'm-1', outputLimitMember: 'max_tokens', memberNames: {} } as const;
const upstream = (text: string, requestsUsage: boolean): string =>
  Buffer.concat(toUpstreamBody(bodyOf(text), { ...COMMON, requestsUsage })).toString();

const showsUsage = (text: string): boolean => {
  const { bytes, streamOptions } = bodyOf(text);
  return wantsUsage(bytes, streamOptions);
};

describe('toUpstreamBody', () => {
  test('adds missing members at the start and changes nothing else', () => {
    expect(upstream('{ "messages":[{"content":"\\u00e9  x"}],"temperature":1.0 }', true)).toBe(
      '{"model":"m-1","stream_options":{"include_usage":true}, "messages":[{"content":"\\u00e9  x"}],"temperature":1.0 }',
    );
    expect(upstream('{}', false)).toBe('{"model":"m-1"}');
  });

  test("limits the output of a request without a limit, in the request's member or the provider's", () => {
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

  test('replaces the model in place, before or after other replacements', () => {
    expect(upstream('{"stream_options":null,"model":"x","a":1}', true)).toBe(
      '{"stream_options":{"include_usage":true},"model":"m-1","a":1}',
    );
    expect(upstream('{"model":"x","stream_options":{"include_usage":false,"y":[1]}}', true)).toBe(
      '{"model":"m-1","stream_options":{"include_usage":true,"y":[1]}}',
    );
  });

  test('keeps the other stream options when it requests usage', () => {
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

  test('keeps stream options that already request usage or are invalid, and adds none without a stream', () => {
    expect(upstream('{"model":"x","stream_options":{ "include_usage" : true }}', true)).toBe(
      '{"model":"m-1","stream_options":{ "include_usage" : true }}',
    );
    expect(upstream('{"model":"x","stream_options":"odd"}', true)).toBe('{"model":"m-1","stream_options":"odd"}');
    expect(upstream('{"model":"x"}', false)).toBe('{"model":"m-1"}');
  });
});

test('shows usage only if the caller requested it', () => {
  expect(showsUsage('{"stream_options":{"include_usage":true}}')).toBe(true);
  expect(showsUsage('{"stream_options":{"include_usage":1}}')).toBe(false);
  expect(showsUsage('{"stream_options":{"include_usage":true,"include_usage":false}}')).toBe(false);
  expect(showsUsage('{"stream_options":null}')).toBe(false);
  expect(showsUsage('{"stream_options":["include_usage"]}')).toBe(false);
  expect(showsUsage('{}')).toBe(false);
});

const renamed = (text: string, names: Record<string, string | null>): string => {
  const bytes = Buffer.from(text);
  const edits = renameMembers({ bytes, span: scanObject(bytes) }, names);
  return applyEdits(
    bytes,
    edits.sort((a, b) => a.start - b.start || a.end - b.end),
  ).toString();
};

test('renames and removes members without changing values', () => {
  expect(renamed('{ "a" : 1.0, "b":"\\u00e9", "c":[ 1 ] }', { a: 'x', b: null })).toBe('{ "x" : 1.0, "c":[ 1 ] }');
  expect(renamed('{"a":1}', { a: null })).toBe('{}');
});

test('removes one comma with each member, at any position', () => {
  expect(renamed('{"a":1, "b":2, "c":3}', { a: null, b: null })).toBe('{  "c":3}');
  expect(renamed('{"a":1,"b":2,"c":3}', { b: null, c: null })).toBe('{"a":1}');
  expect(renamed('{"a":1,"b":2,"c":3}', { a: null, c: null })).toBe('{"b":2}');
  expect(renamed('{"a":1,"b":2}', { a: null, b: null })).toBe('{}');
});

test('changes no byte if there is nothing to rename', () => {
  expect(renamed('{ "a" : 1 }', { b: 'c', constructor: null })).toBe('{ "a" : 1 }');
});

test('keeps the member that already has the name', () => {
  expect(renamed('{"max_completion_tokens":5,"max_tokens":9}', { max_completion_tokens: 'max_tokens' })).toBe(
    '{"max_tokens":9}',
  );
});

test('prefers a value over null for the same name', () => {
  const names = { max_completion_tokens: 'max_tokens' };
  expect(renamed('{"max_completion_tokens":5,"a":1,"max_tokens": null}', names)).toBe('{"max_tokens":5,"a":1}');
  expect(renamed('{"max_tokens":null,"max_completion_tokens":5}', names)).toBe('{"max_tokens":5}');
  expect(renamed('{"max_completion_tokens":null,"max_tokens":9}', names)).toBe('{"max_tokens":9}');
  expect(renamed('{"max_completion_tokens":null,"max_tokens":null}', names)).toBe('{"max_tokens":null}');
  expect(renamed('{"max_completion_tokens":null}', names)).toBe('{"max_tokens":null}');
});
