import type { IncomingMessage } from 'node:http';
import type { RequestBodyDefinition, RouteDefinition, ValidationIssue } from '@svc/contracts';
import { JSON_BYTES_MAX } from '@svc/contracts';
import { z } from 'zod';
import { checkMediaType, hasBody, readBodyBytes } from './read-body.ts';
import { type Checked, check, checkPairs } from './validate.ts';

const NOTHING: Checked<unknown> = { ok: true, value: undefined };

/**
 * Reads and checks the body of a request by its contract. Throws `unsupported_media_type` and `payload_too_large`; faults
 * of the content are returned, so that they can be told together with those of the path and the query.
 */
export const parseBody = async (route: RouteDefinition, req: IncomingMessage): Promise<Checked<unknown>> => {
  const body = route.request.body;
  if (body === undefined) return NOTHING;
  if (!hasBody(req)) return body.raw === true ? NOTHING : absentBody(body);
  checkMediaType(req, body.contentType);
  if (body.raw === true) return NOTHING;
  const bytes = await readBodyBytes(req, body.bytesMax);
  if (bytes.length === 0) return absentBody(body);
  switch (body.contentType) {
    case 'application/json':
      return parseJson(body, bytes);
    case 'application/x-www-form-urlencoded':
      return parseForm(body, bytes);
    default:
      return check(body.schema, bytes, 'body');
  }
};

/** An optional body that is absent reads as an empty object where the schema allows one. */
const absentBody = (body: RequestBodyDefinition): Checked<unknown> => {
  if (body.contentType === 'application/x-www-form-urlencoded') return parseForm(body, Buffer.alloc(0));
  if (body.required) return fault('missing', 'Field required');
  const empty = body.schema.safeParse({});
  return empty.success ? { ok: true, value: empty.data } : NOTHING;
};

const parseForm = (body: RequestBodyDefinition, bytes: Buffer): Checked<unknown> => {
  if (!(body.schema instanceof z.ZodObject)) throw new TypeError('the schema of a form must be an object');
  return checkPairs(body.schema, new URLSearchParams(bytes.toString('utf8')), 'form');
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const parseJson = (body: RequestBodyDefinition, bytes: Buffer): Checked<unknown> => {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    return fault('json_invalid', 'JSON decode error');
  }
  // Records of ordinary size end in text columns, which cannot hold NUL; larger bodies are content and only pass through.
  if (body.bytesMax <= JSON_BYTES_MAX && text.includes('\\u0000') && holdsNul(value)) {
    return fault('value_error', 'Value error, NUL is not allowed');
  }
  return check(body.schema, value, 'body');
};

/** Walks with its own stack: input may be nested deeper than calls can be. */
const holdsNul = (root: unknown): boolean => {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && value.includes('\0')) return true;
    if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) open.push(key, member);
    }
  }
  return false;
};

const fault = (type: ValidationIssue['type'], msg: string): Checked<unknown> => ({
  ok: false,
  issues: [{ loc: ['body'], type, msg }],
});
