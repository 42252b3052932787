import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { checkModel } from './allowed-models.ts';
import { wireModels } from './list-models.ts';
import { modelNotFound } from './model-not-found.ts';

/** Returns a model with a certified route. Throws `model_not_found` or `model_not_allowed`. */
export const getModel = async (
  deps: InferenceDeps,
  { params, caller }: RequestContext<typeof routes.getModel>,
): Promise<Reply> => {
  const model = wireModels(deps).find(({ id }) => id === params.model);
  if (model === undefined) throw modelNotFound(deps, caller, params.model);
  checkModel(caller, model.id);
  return { status: 200, body: model };
};
