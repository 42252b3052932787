import type { ValidationErrorType, ValidationIssue } from '@svc/contracts';
import type { z } from 'zod';

type Definition = z.core.$ZodTypes['_zod']['def'];

// zod only creates schemas of $ZodTypes; its public type is wider.
const definitionOf = (schema: z.core.$ZodType): Definition => (schema as z.core.$ZodTypes)._zod.def;

/** Unwraps optional, nullable, default, readonly, lazy and piped schemas to the one that receives the input. */
const unwrap = (schema: z.core.$ZodType): z.core.$ZodType => {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'catch':
    case 'readonly':
      return unwrap(definition.innerType);
    case 'lazy':
      return unwrap(definition.getter());
    case 'pipe':
      return unwrap(definitionOf(definition.in).type === 'transform' ? definition.out : definition.in);
    default:
      return schema;
  }
};

/** Returns the kind of the unwrapped schema: `string`, `number`, `object`, … */
export const schemaType = (schema: z.core.$ZodType): Definition['type'] => definitionOf(unwrap(schema)).type;

/** Returns the schema of the member at a path; undefined if the path leaves the schema or enters a union. */
const schemaAt = (schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined => {
  const [head, ...rest] = path;
  const inner = unwrap(schema);
  if (head === undefined) return inner;
  const member = memberOf(inner, head);
  return member === undefined ? undefined : schemaAt(member, rest);
};

const memberOf = (schema: z.core.$ZodType, key: PropertyKey): z.core.$ZodType | undefined => {
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'object':
      return Object.hasOwn(definition.shape, key) ? definition.shape[String(key)] : definition.catchall;
    case 'array':
      return definition.element;
    case 'record':
      return definition.valueType;
    case 'tuple':
      return definition.items[Number(key)];
    default:
      return undefined;
  }
};

/** Returns the members of a union; undefined for any other schema. */
const unionOptions = (schema: z.core.$ZodType | undefined): readonly z.core.$ZodType[] | undefined => {
  if (schema === undefined) return undefined;
  const definition = definitionOf(unwrap(schema));
  return definition.type === 'union' ? definition.options : undefined;
};

/** Returns true if a number schema accepts integers only. */
const isIntegerSchema = (schema: z.core.$ZodType | undefined): boolean => {
  if (schema === undefined) return false;
  const definition = definitionOf(unwrap(schema));
  if (definition.type !== 'number') return false;
  if ('format' in definition) return String(definition.format).includes('int');
  return (definition.checks ?? []).some(({ _zod: { def } }) =>
    'format' in def
      ? String(def.format).includes('int')
      : 'value' in def && def.check === 'multiple_of' && def.value === 1,
  );
};

/** Part of the request: the first element of every `loc`. */
export type IssueOrigin = 'body' | 'query' | 'path' | 'form' | 'header';

/** Maximum issues listed in one response. */
const ISSUES_MAX = 100;
const KEY_CHARACTERS_MAX = 128;

interface Fault {
  readonly type: ValidationErrorType;
  readonly msg: string;
  readonly ctx?: Record<string, unknown>;
}

interface Subject {
  readonly schema: z.core.$ZodType;
  readonly data: unknown;
  readonly loc: readonly (string | number)[];
}

/**
 * Converts zod's issues to the items of a 422 body, with Pydantic's `type` names and texts. Never repeats the input,
 * which may be a password or a prompt.
 */
export const toValidationIssues = (
  issues: readonly z.core.$ZodIssue[],
  subject: { schema: z.core.$ZodType; data: unknown; origin: IssueOrigin },
): ValidationIssue[] => {
  const items = issues.slice(0, ISSUES_MAX).flatMap((issue) => convert(issue, { ...subject, loc: [subject.origin] }));
  const firstByLoc = new Map<string, ValidationIssue>();
  for (const item of items) {
    const key = JSON.stringify(item.loc);
    const earlier = firstByLoc.get(key);
    if (earlier === undefined || earlier.type === 'string_pattern_mismatch') firstByLoc.set(key, item);
  }
  return [...firstByLoc.values()].slice(0, ISSUES_MAX);
};

const convert = (issue: z.core.$ZodIssue, subject: Subject): ValidationIssue[] => {
  const loc = [...subject.loc, ...issue.path.map(toLocPart)];
  const value = valueAt(subject.data, issue.path);
  if (issue.code === 'custom') return [{ loc, ...customFault(issue) }];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, ISSUES_MAX).map((key) => ({
      loc: [...loc, toLocPart(key)],
      type: 'extra_forbidden',
      msg: 'Extra inputs are not permitted',
    }));
  }
  if (value === undefined) return [{ loc, type: 'missing', msg: 'Field required' }];
  const schema = schemaAt(subject.schema, issue.path);
  if (issue.code === 'invalid_union')
    return convertUnion(issue, { schema: schema ?? subject.schema, data: value, loc });
  if (issue.code === 'invalid_key' || issue.code === 'invalid_element') {
    return issue.issues.flatMap((inner) =>
      convert(inner, { schema: subject.schema, data: String(issue.path.at(-1)), loc }),
    );
  }
  return [{ loc, ...faultOf(issue, schema, value) }];
};

/** Reports the union option whose type fits the value; if none fits, only that the first option's type is expected. */
const convertUnion = (issue: z.core.$ZodIssueInvalidUnion, subject: Subject): ValidationIssue[] => {
  const options = unionOptions(subject.schema) ?? [];
  const fitting = issue.errors.findIndex((branch) => !branch.some(isTypeMismatch));
  const branch = issue.errors[Math.max(fitting, 0)] ?? [];
  const listed = fitting < 0 ? branch.slice(0, 1) : branch;
  if (listed.length === 0) return [{ loc: [...subject.loc], ...valueError('no option of the union fits') }];
  const schema = options[Math.max(fitting, 0)] ?? subject.schema;
  return listed.flatMap((inner) => convert(inner, { ...subject, schema }));
};

const isTypeMismatch = (issue: z.core.$ZodIssue): boolean => issue.path.length === 0 && issue.code === 'invalid_type';

type PlainIssue = Exclude<
  z.core.$ZodIssue,
  { code: 'custom' | 'unrecognized_keys' | 'invalid_union' | 'invalid_key' | 'invalid_element' }
>;

const faultOf = (issue: PlainIssue, schema: z.core.$ZodType | undefined, value: unknown): Fault => {
  switch (issue.code) {
    case 'invalid_type':
      return typeFault(issue.expected, schema);
    case 'too_small':
      return tooSmall(issue, value);
    case 'too_big':
      return tooBig(issue, value);
    case 'invalid_value':
      return choiceFault(issue, schema);
    case 'invalid_format':
      return formatFault(issue);
    case 'not_multiple_of':
      return Number(issue.divisor) === 1 ? INTEGER_FAULT : valueError(`must be a multiple of ${issue.divisor}`);
  }
};

const INTEGER_FAULT: Fault = { type: 'int_type', msg: 'Input should be a valid integer' };

const typeFault = (expected: string, schema: z.core.$ZodType | undefined): Fault => {
  switch (expected) {
    case 'string':
      return { type: 'string_type', msg: 'Input should be a valid string' };
    case 'int':
      return INTEGER_FAULT;
    case 'number':
      return isIntegerSchema(schema) ? INTEGER_FAULT : { type: 'float_type', msg: 'Input should be a valid number' };
    case 'boolean':
      return { type: 'bool_type', msg: 'Input should be a valid boolean' };
    case 'array':
    case 'tuple':
      return { type: 'list_type', msg: 'Input should be a valid list' };
    case 'object':
    case 'record':
    case 'map':
      return { type: 'dict_type', msg: 'Input should be a valid dictionary' };
    default:
      return valueError(`must be of type ${expected}`);
  }
};

const tooSmall = (issue: z.core.$ZodIssueTooSmall, value: unknown): Fault => {
  const min = Number(issue.minimum);
  if (issue.origin === 'string') {
    return {
      type: 'string_too_short',
      msg: `String should have at least ${count(min, 'character')}`,
      ctx: { min_length: min },
    };
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    const actual = Array.isArray(value) ? value.length : 0;
    const msg = `List should have at least ${count(min, 'item')} after validation, not ${actual}`;
    return { type: 'too_short', msg, ctx: { field_type: 'List', min_length: min, actual_length: actual } };
  }
  return issue.inclusive === false
    ? { type: 'greater_than', msg: `Input should be greater than ${min}`, ctx: { gt: min } }
    : { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${min}`, ctx: { ge: min } };
};

const tooBig = (issue: z.core.$ZodIssueTooBig, value: unknown): Fault => {
  const max = Number(issue.maximum);
  if (issue.origin === 'string') {
    return {
      type: 'string_too_long',
      msg: `String should have at most ${count(max, 'character')}`,
      ctx: { max_length: max },
    };
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    const actual = Array.isArray(value) ? value.length : 0;
    const msg = `List should have at most ${count(max, 'item')} after validation, not ${actual}`;
    return { type: 'too_long', msg, ctx: { field_type: 'List', max_length: max, actual_length: actual } };
  }
  return issue.inclusive === false
    ? valueError(`must be less than ${max}`)
    : { type: 'less_than_equal', msg: `Input should be less than or equal to ${max}`, ctx: { le: max } };
};

const count = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;

const choiceFault = (issue: z.core.$ZodIssueInvalidValue, schema: z.core.$ZodType | undefined): Fault => {
  const names = issue.values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const last = names.at(-1) ?? '';
  const expected = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last;
  const isLiteral = schema === undefined ? names.length === 1 : schemaType(schema) === 'literal';
  return { type: isLiteral ? 'literal_error' : 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
};

const formatFault = (issue: z.core.$ZodIssueInvalidStringFormat): Fault => {
  if (issue.format !== 'regex' || issue.pattern === undefined) return valueError(`must be a valid ${issue.format}`);
  const pattern = issue.pattern.replace(/^\/(.*)\/[a-z]*$/s, '$1');
  return { type: 'string_pattern_mismatch', msg: `String should match pattern '${pattern}'`, ctx: { pattern } };
};

/**
 * Converts a custom rule. `params.type` lets a schema choose another name, such as `missing` for a field that another
 * one requires.
 */
const customFault = (issue: z.core.$ZodIssueCustom): Fault => {
  if (issue.params?.['type'] === 'missing') return { type: 'missing', msg: 'Field required' };
  return valueError(issue.message);
};

const valueError = (reason: string): Fault => ({
  type: 'value_error',
  msg: `Value error, ${reason}`,
  ctx: { error: reason },
});

const toLocPart = (part: PropertyKey): string | number =>
  typeof part === 'number' ? part : String(part).slice(0, KEY_CHARACTERS_MAX);

const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    data,
  );
