import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind, type Reply, type RequestContext } from '@svc/service-kit';
import { endpoints } from './endpoints.ts';
import { forwardRequest } from './forward-request.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { checkModel, listModels, listPrices, modelNotFound, wireModels } from './models.ts';

/** Returns a model with a certified route. Throws `model_not_found` or `model_not_allowed`. */
const getModel = async (
  deps: KeyRequestDeps,
  { params, caller }: RequestContext<typeof routes.getModel>,
): Promise<Reply> => {
  const model = wireModels(deps).find(({ id }) => id === params.model);
  if (model === undefined) throw modelNotFound(deps, caller, params.model);
  checkModel(caller, model.id);
  return { status: 200, body: model };
};

/** Binds the routes of the API-key gateway. */
export const apiKeyRequestRoutes = (deps: KeyRequestDeps): readonly Binding[] => [
  bind(routes.listPrices, () => listPrices(deps)),
  bind(routes.listModels, (context) => listModels(deps, context)),
  bind(routes.getModel, (context) => getModel(deps, context)),
  bind(routes.createChatCompletion, (context) =>
    deps.inFlight.run(() => forwardRequest(deps, endpoints.chat, context)),
  ),
  bind(routes.createResponse, (context) => deps.inFlight.run(() => forwardRequest(deps, endpoints.responses, context))),
  bind(routes.createCompletion, (context) =>
    deps.inFlight.run(() => forwardRequest(deps, endpoints.completions, context)),
  ),
  bind(routes.createEmbeddings, (context) =>
    deps.inFlight.run(() => forwardRequest(deps, endpoints.embeddings, context)),
  ),
];

/** Binds the internal route of prices. */
export const priceInternalRoutes = (deps: Parameters<typeof listPrices>[0]): readonly Binding[] => [
  bind(internalRoutes.readPriceList, () => listPrices(deps)),
];
