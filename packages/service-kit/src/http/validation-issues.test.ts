import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toValidationIssues } from './validation-issues.ts';

const issuesOf = (schema: z.ZodType, data: unknown) => {
  const result = schema.safeParse(data);
  return result.success ? [] : toValidationIssues(result.error.issues, { schema, data, origin: 'body' });
};

const stop = z.strictObject({ stop: z.union([z.string(), z.array(z.string())]).nullish() });
const field = (schema: z.ZodType) => z.strictObject({ a: schema });

describe('reports each kind of fault with the type, text and ctx of Pydantic', () => {
  const cases: [string, z.ZodType, unknown, object][] = [
    ['missing', field(z.string()), {}, { loc: ['body', 'a'], type: 'missing', msg: 'Field required' }],
    ['missing enum', field(z.enum(['x', 'y'])), {}, { loc: ['body', 'a'], type: 'missing' }],
    ['missing literal', field(z.literal('x')), {}, { loc: ['body', 'a'], type: 'missing' }],
    ['missing union', field(z.union([z.string(), z.int()])), {}, { loc: ['body', 'a'], type: 'missing' }],
    ['missing integer', field(z.int()), {}, { loc: ['body', 'a'], type: 'missing' }],
    ['string', field(z.string()), { a: 5 }, { type: 'string_type', msg: 'Input should be a valid string' }],
    ['null string', field(z.string()), { a: null }, { type: 'string_type' }],
    ['string behind a default', field(z.string().default('x')), { a: 5 }, { type: 'string_type' }],
    [
      'short string',
      field(z.string().min(16).max(512)),
      { a: 'x' },
      { type: 'string_too_short', msg: 'String should have at least 16 characters', ctx: { min_length: 16 } },
    ],
    [
      'empty string',
      field(z.string().min(1)),
      { a: '' },
      { type: 'string_too_short', msg: 'String should have at least 1 character', ctx: { min_length: 1 } },
    ],
    [
      'long string',
      field(z.string().max(3)),
      { a: 'xxxx' },
      { type: 'string_too_long', msg: 'String should have at most 3 characters', ctx: { max_length: 3 } },
    ],
    [
      'pattern',
      field(z.string().regex(/^[a-z]{2}$/)),
      { a: 'X' },
      {
        type: 'string_pattern_mismatch',
        msg: "String should match pattern '^[a-z]{2}$'",
        ctx: { pattern: '^[a-z]{2}$' },
      },
    ],
    [
      'literal',
      field(z.literal('S256')),
      { a: 'plain' },
      { type: 'literal_error', msg: "Input should be 'S256'", ctx: { expected: "'S256'" } },
    ],
    [
      'enum',
      field(z.enum(['a', 'b', 'c'])),
      { a: 'd' },
      { type: 'enum', msg: "Input should be 'a', 'b' or 'c'", ctx: { expected: "'a', 'b' or 'c'" } },
    ],
    ['nullable enum', field(z.enum(['a', 'b']).nullish()), { a: 'd' }, { type: 'enum' }],
    ['enum of another type', field(z.enum(['a', 'b'])), { a: 1 }, { type: 'enum' }],
    ['integer as text', field(z.int()), { a: '5' }, { type: 'int_type', msg: 'Input should be a valid integer' }],
    ['integer with a fraction', field(z.int()), { a: 1.5 }, { type: 'int_type' }],
    ['integer of any size as text', field(z.number().multipleOf(1)), { a: '5' }, { type: 'int_type' }],
    ['integer of any size with a fraction', field(z.number().multipleOf(1)), { a: 1.5 }, { type: 'int_type' }],
    ['integer beyond all', field(z.number().multipleOf(1)), { a: Infinity }, { type: 'int_type' }],
    ['z.number().int() as text', field(z.number().int().nullish()), { a: '5' }, { type: 'int_type' }],
    ['number as text', field(z.number()), { a: '5' }, { type: 'float_type', msg: 'Input should be a valid number' }],
    ['boolean', field(z.boolean()), { a: 'true' }, { type: 'bool_type', msg: 'Input should be a valid boolean' }],
    [
      'greater than',
      field(z.int().gt(0)),
      { a: 0 },
      { type: 'greater_than', msg: 'Input should be greater than 0', ctx: { gt: 0 } },
    ],
    ['at least', field(z.int().min(1)), { a: 0 }, { type: 'greater_than_equal', ctx: { ge: 1 } }],
    [
      'at most',
      field(z.number().max(1)),
      { a: 1.5 },
      { type: 'less_than_equal', msg: 'Input should be less than or equal to 1', ctx: { le: 1 } },
    ],
    ['beyond what a number holds', field(z.int()), { a: 1e300 }, { type: 'less_than_equal' }],
    [
      'short list',
      field(z.array(z.string()).min(1)),
      { a: [] },
      {
        type: 'too_short',
        msg: 'List should have at least 1 item after validation, not 0',
        ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
      },
    ],
    [
      'long list',
      field(z.array(z.string()).max(1)),
      { a: ['x', 'y'] },
      { type: 'too_long', ctx: { field_type: 'List', max_length: 1, actual_length: 2 } },
    ],
    ['not a list', field(z.array(z.string())), { a: 'x' }, { type: 'list_type' }],
    [
      'member of a list',
      field(z.array(z.strictObject({ b: z.int() }))),
      { a: [{ b: 1 }, { b: 'x' }] },
      { loc: ['body', 'a', 1, 'b'], type: 'int_type' },
    ],
    ['not an object', field(z.looseObject({})), { a: [] }, { type: 'dict_type' }],
    ['not a record', field(z.record(z.string(), z.unknown())), { a: 5 }, { type: 'dict_type' }],
    ['a list as body', field(z.string()), [], { loc: ['body'], type: 'dict_type' }],
    ['null as body', field(z.string()), null, { loc: ['body'], type: 'dict_type' }],
    [
      'extra',
      field(z.string()),
      { a: 'x', model: 'gpt' },
      { loc: ['body', 'model'], type: 'extra_forbidden', msg: 'Extra inputs are not permitted' },
    ],
    [
      'extra __proto__',
      field(z.string()),
      JSON.parse('{"a":"x","__proto__":{}}'),
      { loc: ['body', '__proto__'], type: 'extra_forbidden' },
    ],
    ['nested extra', field(z.strictObject({})), { a: { b: 1 } }, { loc: ['body', 'a', 'b'], type: 'extra_forbidden' }],
    ['format', field(z.url()), { a: 'nope' }, { type: 'value_error', msg: 'Value error, must be a valid url' }],
    ['step', field(z.number().multipleOf(5)), { a: 4 }, { type: 'value_error' }],
    [
      'our own rule',
      field(z.string().refine(() => false, 'must be https')),
      { a: 'x' },
      { type: 'value_error', msg: 'Value error, must be https' },
    ],
    [
      'key of a record',
      field(z.record(z.string().regex(/^a/), z.int())),
      { a: { b: 1 } },
      { loc: ['body', 'a', 'b'], type: 'string_pattern_mismatch' },
    ],
    [
      'value of a record',
      field(z.record(z.string(), z.int())),
      { a: { b: 'x' } },
      { loc: ['body', 'a', 'b'], type: 'int_type' },
    ],
    ['union, no type fits', stop, { stop: 5 }, { loc: ['body', 'stop'], type: 'string_type' }],
    ['union, a member is wrong', stop, { stop: ['a', 5] }, { loc: ['body', 'stop', 1], type: 'string_type' }],
    [
      'union, a bound of the type that fits',
      field(z.union([z.string().max(2), z.array(z.string())])),
      { a: 'xxx' },
      { loc: ['body', 'a'], type: 'string_too_long' },
    ],
    [
      'tagged union, unknown tag',
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('a') }),
        z.strictObject({ kind: z.literal('b') }),
      ]),
      { kind: 'c' },
      { loc: ['body', 'kind'], type: 'value_error' },
    ],
    [
      'tagged union, no tag',
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('a') }),
        z.strictObject({ kind: z.literal('b') }),
      ]),
      {},
      { loc: ['body', 'kind'], type: 'missing' },
    ],
  ];

  test.each(cases)('%s', (_name, schema, data, expected) => {
    expect(issuesOf(schema, data)).toEqual([expect.objectContaining(expected)]);
  });
});

test('lets a schema name a custom rule "missing"', () => {
  const schema = z.strictObject({ kind: z.string(), name: z.string().nullish() }).superRefine((value, context) => {
    if (value.kind === 'business' && !value.name) {
      context.addIssue({ code: 'custom', path: ['name'], message: 'Field required', params: { type: 'missing' } });
    }
  });
  expect(issuesOf(schema, { kind: 'business' })).toEqual([
    { loc: ['body', 'name'], type: 'missing', msg: 'Field required' },
  ]);
});

test('reports all faults at once, one per location, length before pattern', () => {
  const schema = z.strictObject({ a: z.string().regex(/^x/).min(3), b: z.int(), c: z.boolean() });
  const issues = issuesOf(schema, { a: 'y', b: '1', d: 1, e: 2 });
  expect(issues.map(({ loc, type }) => [loc[1], type])).toEqual([
    ['a', 'string_too_short'],
    ['b', 'int_type'],
    ['c', 'missing'],
    ['d', 'extra_forbidden'],
    ['e', 'extra_forbidden'],
  ]);
});

test('never repeats the input, and lists a bounded number of faults', () => {
  const schema = z.strictObject({ password: z.string().min(12), kind: z.enum(['a']) });
  const data: Record<string, unknown> = { password: 'hunter2', kind: 'hunter2' };
  for (let index = 0; index < 500; index += 1) data[`extra_${index}_${'x'.repeat(500)}`] = 'hunter2';
  const issues = issuesOf(schema, data);
  expect(issues).toHaveLength(100);
  expect(JSON.stringify(issues)).not.toContain('hunter2');
  expect(JSON.stringify(issues).length).toBeLessThan(30_000);
});
