import { type IncomingMessage, type OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { RouteDefinition } from '@svc/contracts';
import { discardBody } from './read-body.ts';
import { awaitsContinue } from './request-head.ts';
import { stateOf } from './request-state.ts';
import type { PathEntry } from './route-table.ts';

/** Time for which browsers may cache a preflight response. */
const PREFLIGHT_SECONDS = 86_400;

/** Headers that let pages of any origin read a response, without credentials (Fetch standard, section 3.3.3). */
export const CROSS_ORIGIN_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After, WWW-Authenticate',
};

/** Returns true if pages may call every one of these paths, and so may read that a path beside them is unknown. */
export const areCrossOrigin = (entries: readonly PathEntry[]): boolean =>
  entries.length > 0 && entries.every(({ isCrossOrigin }) => isCrossOrigin);

/** Returns the headers of a preflight response for these paths, to be sent with `CROSS_ORIGIN_HEADERS`. */
export const preflightHeaders = (entries: readonly PathEntry[]): Readonly<Record<string, string>> => ({
  'Access-Control-Allow-Methods': [...new Set(entries.flatMap(listCrossOriginRoutes).map(({ method }) => method))].join(
    ', ',
  ),
  'Access-Control-Allow-Headers': 'authorization, content-type, idempotency-key, dpop, x-svc-provenance',
  'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
});

/** Returns true if a browser asks whether a page may send a request (Fetch standard, section 3.3.2). */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

const listCrossOriginRoutes = ({ routes }: PathEntry): RouteDefinition[] =>
  [...routes.values()].filter(({ crossOrigin }) => crossOrigin === true);

/** Handlers may replace any of these: pages set their policy, public documents their caching. */
const DEFAULTS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};
const HTTPS_DEFAULTS = { ...DEFAULTS, 'Strict-Transport-Security': 'max-age=31536000' };

/** Headers set on every response, including errors sent by the framework. */
export interface DefaultHeaders {
  readonly requestId: string;
  /** True if responses are served over https, which enables Strict-Transport-Security. */
  readonly isHttps: boolean;
}

const KEY = Symbol('svcDefaultHeaders');

interface WithDefaults {
  [KEY]?: Readonly<Record<string, string>> | undefined;
}

/** Adds the default headers that no handler has set when the response head is written. */
export const holdDefaultHeaders = (
  res: ServerResponse & WithDefaults,
  { requestId, isHttps }: DefaultHeaders,
): void => {
  res[KEY] = { 'X-Request-Id': requestId, ...(isHttps ? HTTPS_DEFAULTS : DEFAULTS) };
  res.writeHead = writeHead;
};

/**
 * Returns the default headers still missing from the response. The API-key gateway, whose errors use the wire format,
 * sends the request id in two headers.
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

/** Node also calls this if the handler has not. Accepts every overload. */
function writeHead(this: ServerResponse & WithDefaults, status: number, ...rest: unknown[]): ServerResponse {
  // A body that was never invited stays unsent only if the connection closes (RFC 9110 section 10.1.1).
  if (awaitsContinue(this.req)) this.setHeader('connection', 'close');
  // Before a connection closes, the body is not read to its end.
  if (!this.hasHeader('connection')) discardBody(this.req);
  const defaults = takeDefaults(this);
  if (hasHeadersAlone(rest) && this.getHeaderNames().length === 0) {
    // Passing one list is several times faster than setting headers one by one.
    return ServerResponse.prototype.writeHead.call(this, status, listed(defaults, rest[0]));
  }
  for (const name of Object.keys(defaults)) if (!this.hasHeader(name)) this.setHeader(name, defaults[name] ?? '');
  // The arguments match one of the overloads, as they came in by it.
  return ServerResponse.prototype.writeHead.apply(this, [status, ...rest] as [number]);
}

/** Returns true for the overloads without a status message and without a header list. */
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
