import type { IncomingHttpHeaders } from 'node:http';
import type { RouteDefinition, ValidationIssue } from '@svc/contracts';
import type { z } from 'zod';
import { invalidRequest } from '../app-error.ts';
import { coerceText } from './coerce-text.ts';
import { schemaType } from './schema-at.ts';
import { type IssueOrigin, toValidationIssues } from './validation-issues.ts';

/** A value that fits its schema, or the faults of one that does not. */
export type Checked<T> = { ok: true; value: T } | { ok: false; issues: ValidationIssue[] };

/** Checks a value against a schema; faults come with `loc` starting at `origin`. */
export const check = <S extends z.ZodType>(schema: S, data: unknown, origin: IssueOrigin): Checked<z.output<S>> => {
  try {
    const result = schema.safeParse(data);
    if (result.success) return { ok: true, value: result.data };
    return { ok: false, issues: toValidationIssues(result.error.issues, { schema, data, origin }) };
  } catch (error) {
    // A recursive schema runs out of stack on input that is nested thousands deep.
    if (!(error instanceof RangeError)) throw error;
    return {
      ok: false,
      issues: [{ loc: [origin], type: 'value_error', msg: 'Value error, the input is nested too deeply' }],
    };
  }
};

/** Checks a value that a handler has read itself. Throws the 422 of the contract. */
export const parseOrThrow = <S extends z.ZodType>(schema: S, data: unknown, origin: IssueOrigin): z.output<S> => {
  const checked = check(schema, data, origin);
  if (checked.ok) return checked.value;
  throw invalidRequest(checked.issues);
};

/** Checks name and value pairs of a query or form: a name that is repeated is a fault, unless the schema wants a list. */
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

/** Checks values that were text in the URL: no column of ours can store the NUL character. */
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

/** Assigns without ever reaching a prototype's setter. */
const define = (target: Record<string, unknown>, name: string, value: unknown): void => {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
};

/** What a request carries beside its body. */
export interface RequestParts {
  params: Readonly<Record<string, unknown>>;
  search: string;
  headers: IncomingHttpHeaders;
}

/** The checked parts, or the faults of all of them. */
export interface CheckedParts {
  params: unknown;
  query: unknown;
  headers: unknown;
  issues: ValidationIssue[];
}

const EMPTY = Object.freeze({});

/** Checks path, query and headers of a request against the route's schemas. */
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
    query: query === undefined ? EMPTY : take(checkPairs(query, pairsOf(route, parts.search), 'query')),
    headers: headers === undefined ? EMPTY : take(checkHeaders(headers, parts.headers)),
    issues,
  };
};

/** RFC 6749 section 3.1: at the OAuth endpoints, a parameter without a value counts as left out. */
const pairsOf = (route: RouteDefinition, search: string): URLSearchParams => {
  const pairs = new URLSearchParams(search);
  return route.caller === 'oauth_public' ? withoutEmpty(pairs) : pairs;
};

/** Drops pairs whose value is empty. */
export const withoutEmpty = (pairs: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...pairs].filter(([, value]) => value !== ''));

/** What is read of a schema once: how its headers are named by Node, and what a request has that carries none of them. */
interface HeaderReading {
  readonly names: readonly string[];
  readonly none: Checked<unknown>;
}

const headerReadings = new WeakMap<z.ZodObject, HeaderReading>();

const readingOf = (schema: z.ZodObject): HeaderReading => {
  const known = headerReadings.get(schema);
  if (known !== undefined) return known;
  const none = check(schema, pick(schema, {}), 'header');
  // All requests without these headers share it.
  if (none.ok) Object.freeze(none.value);
  const reading = { names: Object.keys(schema.shape).map((name) => name.toLowerCase()), none };
  headerReadings.set(schema, reading);
  return reading;
};

/** Most requests carry none of the headers that a route knows, and to find that out takes less than to check it. */
const checkHeaders = (schema: z.ZodObject, headers: IncomingHttpHeaders): Checked<unknown> => {
  const { names, none } = readingOf(schema);
  if (names.every((name) => headers[name] === undefined)) return none;
  return check(schema, pick(schema, headers), 'header');
};

const pick = (schema: z.ZodObject, headers: IncomingHttpHeaders): Record<string, unknown> =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, headers[name.toLowerCase()]]));
