import type { IncomingMessage } from 'node:http';
import type { RouteDefinition } from '@svc/contracts';
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
