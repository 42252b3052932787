import type { IncomingHttpHeaders } from 'node:http';
import type { RouteDefinition, ValidationIssue } from '@svc/contracts';
import type { z } from 'zod';
import { invalidRequest } from '../app-error.ts';
import { type IssueOrigin, schemaType, toValidationIssues } from './validation-issues.ts';

const INTEGER_OR_DECIMAL = /^-?\d{1,16}(\.\d{1,16})?$/;

export type Checked<T> = { ok: true; value: T } | { ok: false; issues: ValidationIssue[] };

/** Checks a value against a schema. The `loc` of each issue starts at `origin`. */
export const check = <S extends z.ZodType>(schema: S, data: unknown, origin: IssueOrigin): Checked<z.output<S>> => {
  try {
    const result = schema.safeParse(data);
    if (result.success) return { ok: true, value: result.data };
    return { ok: false, issues: toValidationIssues(result.error.issues, { schema, data, origin }) };
  } catch (error) {
    // A recursive schema overflows the stack on input nested thousands of levels deep.
    if (!(error instanceof RangeError)) throw error;
    return {
      ok: false,
      issues: [{ loc: [origin], type: 'value_error', msg: 'Value error, the input is nested too deeply' }],
    };
  }
};

/** Checks a value that a handler has read itself. Throws the contract's 422. */
export const parseOrThrow = <S extends z.ZodType>(schema: S, data: unknown, origin: IssueOrigin): z.output<S> => {
  const checked = check(schema, data, origin);
  if (checked.ok) return checked.value;
  throw invalidRequest(checked.issues);
};

/** Checks the name-value pairs of a query or form. A repeated name is a fault unless the schema expects a list. */
export const checkPairs = (schema: z.ZodObject, pairs: URLSearchParams, origin: IssueOrigin): Checked<unknown> => {
  const texts: Record<string, unknown> = {};
  const issues: ValidationIssue[] = [];
  for (const name of new Set(pairs.keys())) {
    const values = pairs.getAll(name);
    const member = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
    if (member !== undefined && schemaType(member) === 'array') define(texts, name, values);
    else if (values.length === 1) define(texts, name, values[0]);
    else if (member === undefined) define(texts, name, values[0]);
    else issues.push({ loc: [origin, name], type: 'value_error', msg: 'Value error, the parameter is repeated' });
  }
  const repeated = new Set(issues.map((issue) => issue.loc[1]));
  const checked = checkTexts(schema, coerceText(schema, texts), origin);
  if (issues.length === 0) return checked;
  const others = checked.ok ? [] : checked.issues.filter((issue) => !repeated.has(issue.loc[1]));
  return { ok: false, issues: [...issues, ...others] };
};

/** Checks text values from the URL: no text column can store NUL. */
const checkTexts = (schema: z.ZodObject, values: Record<string, unknown>, origin: IssueOrigin): Checked<unknown> => {
  const issues = Object.entries(values)
    .filter(([, value]) => typeof value === 'string' && value.includes('\0'))
    .map(
      ([name]): ValidationIssue => ({
        loc: [origin, name],
        type: 'value_error',
        msg: 'Value error, NUL is not allowed',
      }),
    );
  return issues.length > 0 ? { ok: false, issues } : check(schema, values, origin);
};

/** Assigns without calling a setter of the prototype. */
const define = (target: Record<string, unknown>, name: string, value: unknown): void => {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
};

/** Path, query and headers of a request. */
export interface RequestParts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
}

export interface CheckedParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly issues: ValidationIssue[];
}

const EMPTY = Object.freeze({});

export const checkParts = (route: RouteDefinition, parts: RequestParts): CheckedParts => {
  const { params, query, headers } = route.request;
  const issues: ValidationIssue[] = [];
  const take = (checked: Checked<unknown>): unknown => {
    if (checked.ok) return checked.value;
    issues.push(...checked.issues);
    return EMPTY;
  };
  return {
    params: params === undefined ? EMPTY : take(checkTexts(params, coerceText(params, parts.params), 'path')),
    query: query === undefined ? EMPTY : take(checkPairs(query, pairsOf(parts.search), 'query')),
    headers: headers === undefined ? EMPTY : take(checkHeaders(headers, parts.headers)),
    issues,
  };
};

/** A parameter without a value counts as omitted, as RFC 6749 section 3.1 requires for OAuth. */
const pairsOf = (search: string): URLSearchParams => withoutEmpty(new URLSearchParams(search));

export const withoutEmpty = (pairs: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...pairs].filter(([, value]) => value !== ''));

/** Facts derived once per schema: Node's names of its headers, and the result for a request without any of them. */
interface HeaderReading {
  readonly names: readonly string[];
  readonly none: Checked<unknown>;
}

const headerReadings = new WeakMap<z.ZodObject, HeaderReading>();

const readingOf = (schema: z.ZodObject): HeaderReading => {
  const known = headerReadings.get(schema);
  if (known !== undefined) return known;
  const none = check(schema, pick(schema, {}), 'header');
  // Shared by all requests without these headers.
  if (none.ok) Object.freeze(none.value);
  const reading = { names: Object.keys(schema.shape).map((name) => name.toLowerCase()), none };
  headerReadings.set(schema, reading);
  return reading;
};

/** Most requests carry none of the route's headers, and testing for that is cheaper than validating. */
const checkHeaders = (schema: z.ZodObject, headers: IncomingHttpHeaders): Checked<unknown> => {
  const { names, none } = readingOf(schema);
  if (names.every((name) => !headers[name])) return none;
  return check(schema, pick(schema, headers), 'header');
};

/** A header without a value counts as absent. */
const pick = (schema: z.ZodObject, headers: IncomingHttpHeaders): Record<string, unknown> =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, headers[name.toLowerCase()] || undefined]));

/**
 * Converts query or form texts to the schema's types: "50" to a number, "true" to a boolean. Other texts stay as they
 * are, so that validation reports the wrong type.
 */
const coerceText = (schema: z.ZodObject, texts: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const values: Record<string, unknown> = { ...texts };
  for (const [name, member] of Object.entries(schema.shape)) {
    const text = values[name];
    if (typeof text === 'string') values[name] = coerce(schemaType(member), text);
  }
  return values;
};

const coerce = (type: string, text: string): unknown => {
  if (type === 'number' && INTEGER_OR_DECIMAL.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return type === 'array' ? [text] : text;
};
