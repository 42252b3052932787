import type { IncomingMessage } from 'node:http';
import type { RequestBodyDefinition, RouteDefinition, ValidationIssue } from '@svc/contracts';
import { JSON_BYTES_MAX } from '@svc/contracts';
import { z } from 'zod';
import { invalidRequest } from '../app-error.ts';
import { checkMediaType, hasBody, readBodyBytes } from './read-body.ts';
import { type Checked, check, checkPairs, withoutEmpty } from './validate.ts';

const FORM = 'application/x-www-form-urlencoded';
const NOTHING: Checked<unknown> = { ok: true, value: undefined };

/**
 * Reads and checks the body of a request by its contract. Throws `unsupported_media_type` and `payload_too_large`.
 * Content faults are returned, so that they can be reported together with those of path and query.
 */
export const parseBody = async (route: RouteDefinition, req: IncomingMessage): Promise<Checked<unknown>> => {
  const body = route.request.body;
  if (body === undefined) return NOTHING;
  if (!hasBody(req)) return body.raw === true ? NOTHING : absentBody(body, route);
  checkMediaType(req, body.contentType);
  if (body.raw === true) return NOTHING;
  const bytes = await readBodyBytes(req, body.bytesMax);
  if (bytes.length === 0) return absentBody(body, route);
  switch (body.contentType) {
    case 'application/json':
      return parseJson(body, bytes);
    case FORM:
      return checkForm(body.schema, bytes, route.caller === 'oauth_public');
    default:
      return check(body.schema, bytes, 'body');
  }
};

/** An absent optional body reads as an empty object if the schema allows one. */
const absentBody = (body: RequestBodyDefinition, route: RouteDefinition): Checked<unknown> => {
  if (body.contentType === FORM) return checkForm(body.schema, Buffer.alloc(0), route.caller === 'oauth_public');
  if (body.required) return fault('missing', 'Field required');
  const empty = body.schema.safeParse({});
  return empty.success ? { ok: true, value: empty.data } : NOTHING;
};

const checkForm = (schema: z.ZodType, bytes: Buffer, isOauth: boolean): Checked<unknown> => {
  if (!(schema instanceof z.ZodObject)) throw new TypeError('the schema of a form must be an object');
  const pairs = new URLSearchParams(bytes.toString('utf8'));
  return checkPairs(schema, isOauth ? withoutEmpty(pairs) : pairs, 'form');
};

/**
 * Reads and checks the form of a raw OAuth route. Parameters without a value count as omitted, repeated ones are faults
 * (RFC 6749 section 3.2). Throws `unsupported_media_type`, `payload_too_large`, or the contract's 422.
 */
export const readOauthForm = async <S extends z.ZodObject>(
  req: IncomingMessage,
  schema: S,
  bytesMax: number,
): Promise<z.output<S>> => {
  if (hasBody(req)) checkMediaType(req, FORM);
  const checked = checkForm(schema, hasBody(req) ? await readBodyBytes(req, bytesMax) : Buffer.alloc(0), true);
  if (!checked.ok) throw invalidRequest(checked.issues);
  // checkForm has parsed it with this schema.
  return checked.value as z.output<S>;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** NUL and lone surrogates can enter JSON in UTF-8 only as escapes. */
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

const parseJson = (body: RequestBodyDefinition, bytes: Buffer): Checked<unknown> => {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return fault('json_invalid', 'JSON decode error');
  }
  // Bodies of ordinary size end up in text columns; larger ones are only passed through.
  const unstorable =
    body.bytesMax <= JSON_BYTES_MAX && UNSTORABLE_ESCAPE.test(text) ? findUnstorable(value) : undefined;
  if (unstorable !== undefined) return fault('value_error', `Value error, ${unstorable} is not allowed`);
  return check(body.schema, value, 'body');
};

/**
 * Finds text that PostgreSQL cannot store or UTF-8 cannot encode. Iterative, since input may be nested deeper than the
 * call stack.
 */
const findUnstorable = (root: unknown): string | undefined => {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && value.includes('\0')) return 'NUL';
    if (typeof value === 'string' && !value.isWellFormed()) return 'a lone surrogate';
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) open.push(key, member);
    }
  }
  return undefined;
};

const fault = (type: ValidationIssue['type'], msg: string): Checked<unknown> => ({
  ok: false,
  issues: [{ loc: ['body'], type, msg }],
});
