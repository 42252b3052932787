import { readRequest } from '../completions/index.ts';
import { certifiedShape } from './certified-shape.ts';
import { embeddingsShape } from './embeddings/embeddings-shape.ts';
import type { Endpoint } from './forward-request.ts';
import { readResponseRequest } from './responses/read-response-request.ts';
import { responseShape } from './responses/response-shape.ts';

/** Creates an endpoint of the common wire format, which passes requests and answers through. */
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
  responses: {
    service: 'chat',
    path: '/chat/completions',
    read: async (deps, source) => {
      const { request, echo } = await readResponseRequest(deps, source);
      return { request, shape: (shapeDeps, options) => responseShape(shapeDeps, { ...options, request, echo }) };
    },
  },
} as const satisfies Readonly<Record<string, Endpoint>>;
