import { type ApiKeyCaller, AppError } from '@svc/service-kit';
import type { TokenRoute } from '../routes/index.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';

/** Returns true if the key has no allow-list or its list contains the model. */
export const mayUse = ({ models }: ApiKeyCaller, model: string): boolean =>
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
