import type { RouteDefinition } from '@svc/contracts';
import type { PathEntry } from './route-table.ts';

/** Time for which browsers may cache a preflight response. */
const PREFLIGHT_SECONDS = 86_400;

/** Headers that let pages of any origin read a response, without credentials (Fetch standard, section 3.3.3). */
export const CROSS_ORIGIN_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After, WWW-Authenticate',
};

/** Returns true if pages of any origin may call a path. */
export const isCrossOrigin = (entry: PathEntry): boolean => listCrossOriginRoutes(entry).length > 0;

/** Returns the headers of a preflight response for this path, to be sent with `CROSS_ORIGIN_HEADERS`. */
export const preflightHeaders = (entry: PathEntry): Readonly<Record<string, string>> => ({
  'Access-Control-Allow-Methods': listCrossOriginRoutes(entry)
    .map(({ method }) => method)
    .join(', '),
  'Access-Control-Allow-Headers': 'authorization, content-type, idempotency-key, dpop',
  'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
});

const listCrossOriginRoutes = ({ routes }: PathEntry): RouteDefinition[] =>
  [...routes.values()].filter(({ crossOrigin }) => crossOrigin === true);
