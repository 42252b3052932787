import { readRequest } from '../forwarding/index.ts';
import { certifiedShape } from './certified-shape.ts';
import { embeddingsShape } from './embeddings/embeddings-shape.ts';
import type { Endpoint } from './forward-request.ts';
import { responsesEndpoint } from './responses/responses-endpoint.ts';

/** Creates an endpoint of the common wire format, which passes requests and responses through. */
const wireEndpoint = (
  service: 'chat' | 'completions' | 'embeddings',
  path: string,
  shape: typeof certifiedShape = certifiedShape,
): Endpoint => ({
  service,
  path,
  read: async (deps, source) => {
    const request = await readRequest(deps, { ...source, kind: service });
    return { request, shape: (shapeDeps, options) => shape(shapeDeps, { ...options, request }) };
  },
});

/** Endpoints that forward requests. Responses are served by chat routes. */
export const endpoints = {
  chat: wireEndpoint('chat', '/chat/completions'),
  completions: wireEndpoint('completions', '/completions'),
  embeddings: wireEndpoint('embeddings', '/embeddings', embeddingsShape),
  responses: responsesEndpoint,
} as const satisfies Readonly<Record<string, Endpoint>>;
