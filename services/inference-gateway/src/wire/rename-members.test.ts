import { expect, test } from 'vitest';
import { applyEdits, scanObject } from './json-members.ts';
import { renameMembers } from './upstream-body.ts';

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
