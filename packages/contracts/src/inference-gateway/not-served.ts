import type { IncomingPath } from '../core/route.ts';
import { inferenceGatewayRoutes } from './routes.ts';

/** Paths of the common wire format that are not served. The gateway answers 404 at and below them. */
export const unservedPaths: readonly IncomingPath[] = [
  'assistants',
  'audio',
  'batches',
  'containers',
  'conversations',
  'edits',
  'engines',
  'evals',
  'files',
  'fine_tuning',
  'images',
  'messages',
  'moderations',
  'realtime',
  'rerank',
  'threads',
  'uploads',
  'vector_stores',
  'videos',
].map((name) => ({ path: `/v1/${name}`, service: 'inference-gateway', errorShape: 'wire' }));

const served = Object.values(inferenceGatewayRoutes)
  .filter(({ caller }) => caller === 'api_key')
  .map(({ method, path }) => `${method} ${path}`);

/** Message of a 404 in the common wire format. */
export const NOT_SERVED_MESSAGE = `There is no such endpoint. An API key can call: ${served.join(', ')}.`;

/** Returns true if an unknown path needs a 404 in the common wire format, judging by the path or the API key. */
export const isForWireClient = (path: string, authorization: string | undefined): boolean =>
  path.startsWith('/v1/') &&
  (/^bearer +svc_sk_/i.test(authorization ?? '') ||
    unservedPaths.some((each) => path === each.path || path.startsWith(`${each.path}/`)));
