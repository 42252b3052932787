import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { INFERENCE_JSON_BYTES_MAX, type ValidationIssue } from '@svc/contracts';
import { invalidField, invalidRequest, readBodyBytes } from '@svc/service-kit';
import { cutFaultyLists } from './cut-faulty-lists.ts';
import { findDuplicateKey, type JsonObjectSpan, scanObject } from './json-members.ts';
import { type RequestBody, streamOptionsOf } from './upstream-body.ts';

/** A request body, parsed and as it came. */
export interface JsonRequest<T> extends RequestBody {
  readonly value: T;
}

/**
 * Reads a JSON object from a request, keeping its bytes; `check` judges it, and takes from it what is needed. Throws what
 * that throws, `payload_too_large` or the 422 of the contract; a property that stands twice is refused, as the provider
 * might read the other one.
 */
export const readJsonRequest = async <T>(
  req: IncomingMessage,
  check: (value: unknown) => T,
): Promise<JsonRequest<T>> => {
  const bytes = await readBodyBytes(req, INFERENCE_JSON_BYTES_MAX);
  if (bytes.length === 0) throw fault('missing', 'Field required');
  const body = parseJson(bytes);
  cutFaultyLists(body);
  const value = check(body);
  const span = scanObject(bytes);
  refuseDuplicate(span, ['body']);
  const streamOptions = streamOptionsOf({ bytes, span });
  if (typeof streamOptions === 'object') refuseDuplicate(streamOptions, ['body', 'stream_options']);
  return { value, bytes, span };
};

const refuseDuplicate = (span: JsonObjectSpan, loc: readonly string[]): void => {
  const duplicate = findDuplicateKey(span);
  if (duplicate === undefined) return;
  throw invalidField([...loc, duplicate], 'value_error', 'Value error, the property is repeated');
};

const parseJson = (bytes: Buffer): unknown => {
  try {
    if (isUtf8(bytes)) return JSON.parse(bytes.toString());
  } catch {
    // Told below, without a word of what stood there.
  }
  throw fault('json_invalid', 'JSON decode error');
};

const fault = (type: ValidationIssue['type'], msg: string) => invalidRequest([{ loc: ['body'], type, msg }]);
