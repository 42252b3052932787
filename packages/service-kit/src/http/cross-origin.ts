import type { RouteDefinition } from '@svc/contracts';
import type { PathEntry } from './route-table.ts';

/** Browsers may keep the answer to a preflight this long. */
const PREFLIGHT_SECONDS = 86_400;

/** Headers that let pages of any origin read an answer, without credentials (Fetch standard, section 3.3.3). */
export const CROSS_ORIGIN_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'X-Request-Id, Retry-After, WWW-Authenticate',
};

/** Says whether pages of any origin may call a path. */
export const isCrossOrigin = (entry: PathEntry): boolean => listCrossOriginRoutes(entry).length > 0;

/** Returns the headers that a preflight for this path is answered with, beside `CROSS_ORIGIN_HEADERS`. */
export const preflightHeaders = (entry: PathEntry): Readonly<Record<string, string>> => ({
  'Access-Control-Allow-Methods': listCrossOriginRoutes(entry)
    .map(({ method }) => method)
    .join(', '),
  'Access-Control-Allow-Headers': 'authorization, content-type, idempotency-key, dpop',
  'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
});

const listCrossOriginRoutes = ({ routes }: PathEntry): RouteDefinition[] =>
  [...routes.values()].filter(({ crossOrigin }) => crossOrigin === true);
