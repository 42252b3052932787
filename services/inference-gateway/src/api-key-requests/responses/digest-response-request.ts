import { isUtf8 } from 'node:buffer';
import { responseRequestSchema, type ValidationIssue } from '@svc/contracts';
import { check } from '@svc/service-kit/validation';
import { cutFaultyLists, digestRequest, type RequestDigest } from '../../wire/index.ts';
import { readRawRequest, toOwnBuffer, writeJson } from './raw-json.ts';
import { echoOf, type ResponseEcho } from './response-object.ts';
import { toChatRequest, Unsupported } from './to-chat-request.ts';

/** A request of the Responses format translated to a chat request, or its faults. */
type ResponseRequestReading =
  | { readonly ok: true; readonly digest: RequestDigest; readonly body: Buffer; readonly echo: ResponseEcho }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] }
  | { readonly ok: false; readonly unsupported: { readonly param: string; readonly message: string } };

/** Translates a request of the Responses format to a chat request and digests it. What is only passed on keeps its text. */
export const digestResponseRequest = (
  bytes: Buffer,
  { members }: { readonly members: ReadonlySet<string> },
): ResponseRequestReading => {
  const value = parseJson(bytes);
  if (value === undefined) {
    return { ok: false, issues: [{ loc: ['body'], type: 'json_invalid', msg: 'JSON decode error' }] };
  }
  cutFaultyLists(value);
  const checked = check(responseRequestSchema, value, 'body');
  if (!checked.ok) return checked;
  try {
    const raw = readRawRequest(bytes);
    const body = toOwnBuffer(writeJson(toChatRequest(checked.value, raw)));
    const reading = digestRequest(body, { kind: 'chat', members });
    return reading.ok ? { ...reading, body, echo: echoOf(checked.value, raw) } : reading;
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return { ok: false, unsupported: { param: error.param, message: error.message } };
  }
};

/** Returns undefined for text that is not JSON in UTF-8. Drops the error because it would quote the text. */
const parseJson = (bytes: Buffer): unknown => {
  try {
    return isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
};
