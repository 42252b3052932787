import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { readRequest } from '../forwarding/index.ts';
import { certifiedShape } from './certified-shape.ts';
import { embeddingsShape } from './embeddings/embeddings-shape.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { getModel, listModels, listPrices } from './models.ts';
import { responsesEndpoint } from './responses/responses-endpoint.ts';
import { type Endpoint, serveKeyRequest } from './serve-key-request.ts';

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
const endpoints = {
  chat: wireEndpoint('chat', '/chat/completions'),
  completions: wireEndpoint('completions', '/completions'),
  embeddings: wireEndpoint('embeddings', '/embeddings', embeddingsShape),
  responses: responsesEndpoint,
} as const satisfies Readonly<Record<string, Endpoint>>;

/** Binds the routes of API-key requests. */
export const apiKeyRequestRoutes = (deps: KeyRequestDeps): readonly Binding[] => [
  bind(routes.listPrices, () => listPrices(deps)),
  bind(routes.listModels, (context) => listModels(deps, context)),
  bind(routes.getModel, (context) => getModel(deps, context)),
  bind(routes.createChatCompletion, (context) =>
    deps.inFlight.run(() => serveKeyRequest(deps, endpoints.chat, context)),
  ),
  bind(routes.createResponse, (context) =>
    deps.inFlight.run(() => serveKeyRequest(deps, endpoints.responses, context)),
  ),
  bind(routes.createCompletion, (context) =>
    deps.inFlight.run(() => serveKeyRequest(deps, endpoints.completions, context)),
  ),
  bind(routes.createEmbeddings, (context) =>
    deps.inFlight.run(() => serveKeyRequest(deps, endpoints.embeddings, context)),
  ),
];

/** Binds the internal route of prices. */
export const priceInternalRoutes = (deps: Parameters<typeof listPrices>[0]): readonly Binding[] => [
  bind(internalRoutes.readPriceList, () => listPrices(deps)),
];
