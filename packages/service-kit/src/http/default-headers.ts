import { type OutgoingHttpHeader, ServerResponse } from 'node:http';
import { CROSS_ORIGIN_HEADERS } from './cross-origin.ts';
import { discardBody } from './read-body.ts';
import { stateOf } from './request-state.ts';

/** Handlers may replace any of these: pages set their own policy, public documents their own caching. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};
const HTTPS_DEFAULTS = { ...DEFAULTS, 'Strict-Transport-Security': 'max-age=31536000' };

/** What every answer to a request carries, whoever sends it. */
export interface DefaultHeaders {
  requestId: string;
  /** Answers go out over https: tell browsers to stay there. */
  isHttps: boolean;
}

const KEY = Symbol('svcDefaultHeaders');

interface WithDefaults {
  [KEY]?: Readonly<Record<string, string>> | undefined;
}

/** Adds the default headers when the head of the response is written, as far as nobody has set them by then. */
export const holdDefaultHeaders = (
  res: ServerResponse & WithDefaults,
  { requestId, isHttps }: DefaultHeaders,
): void => {
  res[KEY] = { 'X-Request-Id': requestId, ...(isHttps ? HTTPS_DEFAULTS : DEFAULTS) };
  res.writeHead = writeHead;
};

/**
 * Takes the headers that the head of the response is still to get. The API-key gateway, whose errors have the common wire
 * format, names its request by two headers.
 */
const takeDefaults = (res: ServerResponse & WithDefaults): Readonly<Record<string, string>> => {
  const held = res[KEY];
  if (held === undefined) return {};
  res[KEY] = undefined;
  const state = stateOf(res);
  if (state?.isCrossOrigin === true) return { ...held, ...CROSS_ORIGIN_HEADERS };
  const requestId = held['X-Request-Id'];
  const isOfGateway = requestId !== undefined && state?.errorShape === 'wire';
  return isOfGateway ? { ...held, 'X-Svc-Compliance-Gateway-Request-Id': requestId } : held;
};

type Headers = Readonly<Record<string, OutgoingHttpHeader | undefined>>;

/** Node calls it too, where a handler has not. Any of its overloads. */
function writeHead(this: ServerResponse & WithDefaults, status: number, ...rest: unknown[]): ServerResponse {
  // A connection that closes with its answer is not read to its end.
  if (!this.hasHeader('connection')) discardBody(this.req);
  const defaults = takeDefaults(this);
  if (hasHeadersAlone(rest) && this.getHeaderNames().length === 0) {
    // One list, written as it is: headers that are set one by one take several times as long.
    return ServerResponse.prototype.writeHead.call(this, status, listed(defaults, rest[0]));
  }
  for (const name of Object.keys(defaults)) if (!this.hasHeader(name)) this.setHeader(name, defaults[name] ?? '');
  // What came in as the arguments of one overload goes on as those of the same.
  return ServerResponse.prototype.writeHead.apply(this, [status, ...rest] as [number]);
}

/** No message, and headers by their names or none. */
const hasHeadersAlone = (rest: unknown[]): rest is [Headers?] => {
  const [given] = rest;
  if (rest.length > 1 || given === null) return false;
  return given === undefined || (typeof given === 'object' && !Array.isArray(given));
};

const listed = (defaults: Readonly<Record<string, string>>, given: Headers = {}): OutgoingHttpHeader[] => {
  const list: OutgoingHttpHeader[] = [];
  const names = new Set<string>();
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined) continue;
    names.add(name.toLowerCase());
    list.push(name, value);
  }
  for (const name of Object.keys(defaults)) {
    if (!names.has(name.toLowerCase())) list.push(name, defaults[name] ?? '');
  }
  return list;
};
