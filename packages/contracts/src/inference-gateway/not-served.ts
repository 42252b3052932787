import type { IncomingPath } from '../core/route.ts';
import { inferenceGatewayRoutes } from './routes.ts';

const toIncoming = (path: string): IncomingPath => ({ path, service: 'inference-gateway', errorShape: 'wire' });

const unservedEndpoints = [
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
].map((name) => toIncoming(`/v1/${name}`));

/** Paths at which clients arrive whose base URL lacks `/v1`. */
const unversionedEndpoints = ['/chat/completions', '/completions', '/embeddings', '/models', '/responses'].map(
  toIncoming,
);

/** Paths of the common wire format that are not served. The gateway answers 404 at and below them. */
export const unservedPaths: readonly IncomingPath[] = [...unservedEndpoints, ...unversionedEndpoints];

const served = Object.values(inferenceGatewayRoutes)
  .filter(({ caller }) => caller === 'api_key')
  .map(({ method, path }) => `${method} ${path}`);

const covers = ({ path: covering }: IncomingPath, path: string): boolean =>
  path === covering || path.startsWith(`${covering}/`);

const NOT_SERVED_MESSAGE = `There is no such endpoint. An API key can call: ${served.join(', ')}.`;

/** Returns the message of a 404 in the common wire format. */
export const notServedMessage = (path: string): string => {
  const unversioned = unversionedEndpoints.find((each) => covers(each, path));
  if (unversioned !== undefined) return `Your base URL lacks /v1: this endpoint is /v1${unversioned.path}.`;
  return isForMessagesClient(path) ? `The Messages format is not served. ${NOT_SERVED_MESSAGE}` : NOT_SERVED_MESSAGE;
};

/** Returns true for the Messages format, whose errors have an envelope. */
export const isForMessagesClient = (path: string): boolean => covers(toIncoming('/v1/messages'), path);

/** Returns true if an unknown path needs a 404 in the common wire format, judging by the path or the API key. */
export const isForWireClient = (path: string, authorization: string | undefined): boolean =>
  unservedPaths.some((each) => covers(each, path)) ||
  (path.startsWith('/v1/') && /^bearer +svc_sk_/i.test(authorization ?? ''));
