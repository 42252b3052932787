import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonShape } from './json-shape.ts';

const LIMITS = { valuesMax: 1_000, depthMax: 8 };

const count = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, member) => sum + count(member), 1)
    : 1;

const shapeOf = (text: string, pieceBytes: number, limits = { valuesMax: 1e9, depthMax: 1e9 }) => {
  const shape = new JsonShape(limits);
  const bytes = Buffer.from(text);
  let isWithin = true;
  for (let at = 0; at < bytes.length; at += pieceBytes) isWithin &&= shape.push(bytes.subarray(at, at + pieceBytes));
  return { values: shape.values, isWithin };
};

describe('JsonShape', () => {
  test.each([
    ['{}', 1],
    ['[ ]', 1],
    ['[0]', 2],
    ['{"a":{}}', 2],
    ['[{},{}, [ [] ]]', 5],
    ['"a,[{"', 1],
    ['{"a\\"":"\\\\","b":",\\",["}', 3],
    [`["${'x'.repeat(100)}\\"${',"'.slice(0, 1).repeat(40)}",1]`, 3],
  ])('counts the values of %s', (text, values) => {
    for (const pieceBytes of [1, 2, 3, 1_000]) expect(shapeOf(text, pieceBytes).values).toBe(values);
  });

  test('counts the same values as JSON.parse, however the text is split', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 1, max: 70 }),
        (value, indent, cut) => {
          expect(shapeOf(JSON.stringify(value, null, indent), cut).values).toBe(count(value));
        },
      ),
    );
  });

  test('counts the same values as JSON.parse if strings are long and full of escapes', () => {
    const text = fc.array(fc.constantFrom('\\', '"', ',', '[', '{', 'x'.repeat(30), 'é'), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.integer({ min: 1, max: 90 }), (texts, cut) => {
        const value = texts.map((parts) => parts.join(''));
        expect(shapeOf(JSON.stringify(value), cut).values).toBe(count(value));
      }),
    );
  });

  test('rejects one value too many, and one level too many', () => {
    const list = (length: number) => `[${'0,'.repeat(length - 1)}0]`;
    expect(shapeOf(list(999), 64, LIMITS).isWithin).toBe(true);
    expect(shapeOf(list(1_000), 64, LIMITS).isWithin).toBe(false);
    expect(shapeOf('['.repeat(8) + ']'.repeat(8), 3, LIMITS).isWithin).toBe(true);
    expect(shapeOf('['.repeat(9) + ']'.repeat(9), 3, LIMITS).isWithin).toBe(false);
    expect(shapeOf('{"a":'.repeat(9), 3, LIMITS).isWithin).toBe(false);
  });

  test('rejects millions of empty objects within the first two megabytes', () => {
    const shape = new JsonShape();
    const piece = Buffer.from('{},'.repeat(20_000));
    shape.push(Buffer.from('{"messages":['));
    let bytes = 0;
    while (shape.push(piece)) bytes += piece.length;
    expect(bytes).toBeLessThan(2_000_000);
  });

  test('refuses the same short texts whole as in pieces', () => {
    const limits = { valuesMax: 1e9, depthMax: 8 };
    const part = fc.constantFrom('[', ']', '{', '}', '"', '"[[[["', ',', '"a":', '1', ' ');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const bytes = Buffer.from(parts.join(''));
        expect(new JsonShape(limits).push(bytes, true)).toBe(new JsonShape(limits).push(bytes));
      }),
    );
  });
});
