import { CONTEXT_TOKENS_DEFAULT, type Model, type PriceList, type routes } from '@svc/contracts';
import { type ApiKeyCaller, AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { OfferedModel, TokenRoute } from '../provider-routes/index.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';

/** Returns true if the key has no allow-list or its list contains the model. */
const mayUse = ({ models }: ApiKeyCaller, model: string): boolean =>
  models === null || models === undefined || models.includes(model);

/** Throws `model_not_allowed` if the key may not use the model. */
export const checkModel = (caller: ApiKeyCaller, model: string): void => {
  if (!mayUse(caller, model)) throw new AppError('model_not_allowed', undefined, { details: { param: 'model' } });
};

/** Most models that a message names. */
const NAMED_MAX = 20;

const PATHS: Readonly<Record<TokenRoute['service'], string>> = {
  chat: '/v1/chat/completions and /v1/responses',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
};

/** Returns the error for a model that the endpoint does not serve: where it is served, or what the key may use. */
export const modelNotFound = (
  { routes, clock }: Pick<KeyRequestDeps, 'routes' | 'clock'>,
  caller: ApiKeyCaller,
  model: string,
): AppError => {
  const models = routes()
    .models(clock())
    .filter(({ id }) => mayUse(caller, id));
  const elsewhere = models.filter(({ id }) => id === model).map(({ service }) => PATHS[service]);
  const names = [...new Set(models.map(({ id }) => id))].slice(0, NAMED_MAX);
  const message =
    elsewhere.length > 0
      ? `The model ${model} is not served here, but at ${elsewhere.join(' and ')}.`
      : `There is no such model. ${names.length === 0 ? 'No model is available.' : `This key can use: ${names.join(', ')}.`}`;
  return new AppError('model_not_found', message, { details: { param: 'model' } });
};

type ModelsDeps = Pick<KeyRequestDeps, 'routes' | 'clock' | 'currency'>;

/** Lists the models with a certified route that the key may use, in the common wire format. */
export const listModels = async (
  deps: ModelsDeps,
  { caller }: RequestContext<typeof routes.listModels>,
): Promise<Reply> => {
  const data = wireModels(deps).filter(({ id }) => mayUse(caller, id));
  return { status: 200, body: { object: 'list', data } };
};

/** Returns each model once, with the facts of its first service, in the common wire format. */
const wireModels = ({ routes, clock, currency }: ModelsDeps): readonly Model[] => {
  const models = routes().models(clock());
  const first = models.filter(({ id }, index) => models.findIndex((model) => model.id === id) === index);
  return first.map((model) => ({
    id: model.id,
    object: 'model',
    created: Math.floor(model.certifiedFromMs / 1000),
    owned_by: model.ownedBy,
    ...factsOf(model),
    price: { ...model.price, currency },
  }));
};

/** Returns all prices, as everyone may read them. */
export const listPrices = async ({ routes, clock, currency }: ModelsDeps): Promise<Reply> => {
  const nowMs = clock();
  const table = routes();
  const body: PriceList = {
    currency,
    data: table.models(nowMs).map((model) => ({
      id: model.id,
      service: model.service,
      ...factsOf(model),
      price: model.price,
    })),
    delegated: table.delegatedPrices(nowMs),
  };
  return { status: 200, body };
};

const factsOf = ({ contextTokensMax, outputTokensMax }: OfferedModel) => ({
  // The default is no model's own limit.
  ...(contextTokensMax === CONTEXT_TOKENS_DEFAULT ? {} : { context_length: contextTokensMax }),
  max_output_tokens: outputTokensMax,
});

/** Returns a model with a certified route. Throws `model_not_found` or `model_not_allowed`. */
export const getModel = async (
  deps: KeyRequestDeps,
  { params, caller }: RequestContext<typeof routes.getModel>,
): Promise<Reply> => {
  const model = wireModels(deps).find(({ id }) => id === params.model);
  if (model === undefined) throw modelNotFound(deps, caller, params.model);
  checkModel(caller, model.id);
  return { status: 200, body: model };
};
