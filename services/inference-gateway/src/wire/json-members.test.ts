import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyEdits, findDuplicateKey, findMember, insertFirst, insertLast, scanObject } from './json-members.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

describe('scanObject', () => {
  test('finds members and values despite braces and quotes in strings and nested values', () => {
    const text = ' { "a" : "}\\"{" , "b":[{"a":1},"]"],\n"c":-1.5e3,"d":{}, "e":null }';
    const span = scanObject(bytes(text));
    expect(span.members.map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)])).toEqual([
      ['a', '"}\\"{"'],
      ['b', '[{"a":1},"]"]'],
      ['c', '-1.5e3'],
      ['d', '{}'],
      ['e', 'null'],
    ]);
    expect(text[span.open]).toBe('{');
    expect(text[span.close]).toBe('}');
  });

  test('reads escaped keys as JSON.parse does', () => {
    expect(scanObject(bytes('{"mod\\u0065l":1}')).members[0]?.key).toBe('model');
  });

  test('agrees with JSON.parse on any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const text = bytes(JSON.stringify(value, null, indent));
        const parsed: unknown = JSON.parse(text.toString());
        const read = Object.fromEntries(
          scanObject(text).members.map(({ key, valueStart, valueEnd }) => [
            key,
            JSON.parse(text.toString('utf8', valueStart, valueEnd)),
          ]),
        );
        expect(JSON.stringify(read)).toBe(JSON.stringify(parsed));
      }),
    );
  });

  test('throws RangeError if the text is not an object', () => {
    expect(() => scanObject(bytes('[1]'))).toThrow(RangeError);
    expect(() => scanObject(bytes(''))).toThrow(RangeError);
  });
});

describe('edits', () => {
  test('insert first, replace and insert last without changing any other byte', () => {
    const text = bytes('{ "model":"x",  "n": 1.0 }');
    const span = scanObject(text);
    const model = findMember(span, 'model');
    const edited = applyEdits(text, [
      insertFirst(span, ['"z":0']),
      { start: model?.valueStart ?? 0, end: model?.valueEnd ?? 0, text: '"other"' },
      insertLast(span, '"last":true'),
    ]);
    expect(edited.toString()).toBe('{"z":0, "model":"other",  "n": 1.0,"last":true }');
  });

  test('insert into an empty object without a comma', () => {
    const text = bytes('{}');
    expect(applyEdits(text, [insertFirst(scanObject(text), ['"a":1'])]).toString()).toBe('{"a":1}');
    expect(applyEdits(text, [insertLast(scanObject(text), '"a":1')]).toString()).toBe('{"a":1}');
  });

  test('throw RangeError if they overlap', () => {
    const edit = { start: 0, end: 2, text: '' };
    expect(() => applyEdits(bytes('{}'), [edit, edit])).toThrow(RangeError);
  });
});

test('returns the last of two equal keys, and finds the duplicate', () => {
  const span = scanObject(bytes('{"a":1,"b":2,"a":3}'));
  expect(findMember(span, 'a')?.valueStart).toBe(17);
  expect(findDuplicateKey(span)).toBe('a');
  expect(findDuplicateKey(scanObject(bytes('{"a":1,"b":2}')))).toBeUndefined();
});
