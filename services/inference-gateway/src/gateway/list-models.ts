import { CONTEXT_TOKENS_DEFAULT, type Model, type PriceList, type routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { OfferedModel } from '../routes/index.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { mayUse } from './model-not-found.ts';

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
export const wireModels = ({ routes, clock, currency }: ModelsDeps): readonly Model[] => {
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
