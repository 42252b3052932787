import { expect, test } from 'vitest';
import { applyEdits, scanObject } from './json-members.ts';
import { renameMembers } from './rename-members.ts';

const renamed = (text: string, names: Record<string, string | null>): string => {
  const bytes = Buffer.from(text);
  const edits = renameMembers({ bytes, span: scanObject(bytes) }, names);
  return applyEdits(
    bytes,
    edits.sort((a, b) => a.start - b.start || a.end - b.end),
  ).toString();
};

test('members are renamed or left out, and values stay as they came', () => {
  expect(renamed('{ "a" : 1.0, "b":"\\u00e9", "c":[ 1 ] }', { a: 'x', b: null })).toBe('{ "x" : 1.0, "c":[ 1 ] }');
  expect(renamed('{"a":1}', { a: null })).toBe('{}');
});

test('members are removed with one comma each, wherever they stand', () => {
  expect(renamed('{"a":1, "b":2, "c":3}', { a: null, b: null })).toBe('{  "c":3}');
  expect(renamed('{"a":1,"b":2,"c":3}', { b: null, c: null })).toBe('{"a":1}');
  expect(renamed('{"a":1,"b":2,"c":3}', { a: null, c: null })).toBe('{"b":2}');
  expect(renamed('{"a":1,"b":2}', { a: null, b: null })).toBe('{}');
});

test('nothing to rename leaves the very same bytes', () => {
  expect(renamed('{ "a" : 1 }', { b: 'c', constructor: null })).toBe('{ "a" : 1 }');
});

test('a name that is taken stays with the member that has it', () => {
  expect(renamed('{"max_completion_tokens":5,"max_tokens":9}', { max_completion_tokens: 'max_tokens' })).toBe(
    '{"max_tokens":9}',
  );
});

test('a null says nothing, and does not keep a name from a member that says something', () => {
  const names = { max_completion_tokens: 'max_tokens' };
  expect(renamed('{"max_completion_tokens":5,"a":1,"max_tokens": null}', names)).toBe('{"max_tokens":5,"a":1}');
  expect(renamed('{"max_tokens":null,"max_completion_tokens":5}', names)).toBe('{"max_tokens":5}');
  expect(renamed('{"max_completion_tokens":null,"max_tokens":9}', names)).toBe('{"max_tokens":9}');
  expect(renamed('{"max_completion_tokens":null,"max_tokens":null}', names)).toBe('{"max_tokens":null}');
  expect(renamed('{"max_completion_tokens":null}', names)).toBe('{"max_tokens":null}');
});
