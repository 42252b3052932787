import type { IncomingHttpHeaders } from 'node:http';

/** End of the body: after a length in bytes, after the last chunk, or with the connection. */
export type Framing = number | 'chunked' | 'close';

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names; a list if a header is repeated. */
  readonly headers: IncomingHttpHeaders;
  readonly framing: Framing;
  /** Keep-alive time in milliseconds; 0 if the connection must be closed, undefined if the server does not say. */
  readonly keepAliveMs: number | undefined;
}

/** Thrown if the response is not valid HTTP/1.1 or its end is ambiguous. */
export class BadResponseError extends Error {
  override readonly name = 'BadResponseError';
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d{2})(?: |$)/;
/** A lone CR or LF, or a NUL, which parsers treat differently. */
const MISLEADING = /\0|\r(?!\n)|(?<!\r)\n/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_SECONDS = /(?:^|,)[\t ]*timeout=(\d{1,6})(?:[\t ,]|$)/i;
/** Far more than any server sends. */
const HEADERS_MAX = 256;
/** Subtracted from the server's keep-alive time, so that no request meets a closing connection. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/**
 * Parses the head of a response (RFC 9112 sections 4 to 6), without its final empty line. Stricter than the standard,
 * to prevent response smuggling: no folded lines, no lone CR or LF, one length. Throws BadResponseError.
 */
export const parseResponseHead = (text: string): ResponseHead => {
  if (MISLEADING.test(text)) throw new BadResponseError('the head of the response contains a lone CR, LF or NUL');
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) throw new BadResponseError('the response does not begin with a status line');
  if (lines.length > HEADERS_MAX) throw new BadResponseError('the head of the response has too many headers');
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) addHeader(headers, line);
  return {
    status: Number(status),
    headers,
    framing: framingOf(Number(status), headers),
    keepAliveMs: keepAliveOf(headers, minor === '1'),
  };
};

const addHeader = (headers: IncomingHttpHeaders, line: string): void => {
  const colon = line.indexOf(':');
  const key = keyOf(line.slice(0, Math.max(colon, 0)));
  // The two lower-case names that every object already has.
  if (key === '__proto__' || key === 'constructor') return;
  const value = withoutBlanks(line, colon + 1);
  const before = headers[key];
  if (before === undefined) headers[key] = value;
  else headers[key] = Array.isArray(before) ? [...before, value] : [before, value];
};

/** Header names as received and in lower case: servers repeat the same ones. */
const keys = new Map<string, string>();
const KEYS_MAX = 256;

const keyOf = (name: string): string => {
  const known = keys.get(name);
  if (known !== undefined) return known;
  // A folded line (RFC 9112 section 5.2) begins with a blank and fails here too.
  if (!TOKEN.test(name)) throw new BadResponseError('a line of the response head is not a header');
  const key = name.toLowerCase();
  if (keys.size < KEYS_MAX) keys.set(name, key);
  return key;
};

/**
 * Returns the rest of the line without blanks and tabs (RFC 9112 section 5.1). `trim` removes more than other parsers
 * do.
 */
const withoutBlanks = (line: string, start: number): string => {
  let from = start;
  let to = line.length;
  while (from < to && isBlank(line.charCodeAt(from))) from += 1;
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1;
  return line.slice(from, to);
};

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

const framingOf = (status: number, headers: IncomingHttpHeaders): Framing => {
  // These statuses have no body, regardless of the headers (RFC 9112 section 6.3).
  if (status < 200 || status === 204 || status === 304) return 0;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // The client announces no other coding, so none may come (RFC 9112 section 6.1).
    if (typeof coding === 'string' && coding.toLowerCase() === 'chunked') return 'chunked';
    throw new BadResponseError('the response uses a transfer coding that was not requested');
  }
  const given: string | readonly string[] | undefined = headers['content-length'];
  if (given === undefined) return 'close';
  const [length = '', ...others] = typeof given === 'string' ? [given] : given;
  if (!LENGTH.test(length) || others.some((other) => other !== length)) {
    throw new BadResponseError('the length of the response is ambiguous');
  }
  return Number(length);
};

const keepAliveOf = (headers: IncomingHttpHeaders, isCurrentVersion: boolean): number | undefined => {
  const wishes = tokensOf(headers.connection);
  const isKept = !wishes.includes('close') && (isCurrentVersion || wishes.includes('keep-alive'));
  // An intermediary may have used another length, or may not know the coding (RFC 9112 section 6.1).
  const isAmbiguous =
    headers['transfer-encoding'] !== undefined && (headers['content-length'] !== undefined || !isCurrentVersion);
  if (!isKept || isAmbiguous) return 0;
  const seconds = KEEP_ALIVE_SECONDS.exec(String(headers['keep-alive'] ?? ''))?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS);
};

/** Returns the values of a list header, in lower case. */
const tokensOf = (value: string | string[] | undefined): string[] =>
  value === undefined
    ? []
    : String(value)
        .toLowerCase()
        .split(',')
        .map((token) => token.trim());
