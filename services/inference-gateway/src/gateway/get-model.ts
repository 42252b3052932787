import type { routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { checkModel } from './allowed-models.ts';
import { toModel } from './list-models.ts';

/** Returns a model with a certified route. Throws `model_not_found` or `model_not_allowed`. */
export const getModel = async (
  deps: InferenceDeps,
  { params, caller }: RequestContext<typeof routes.getModel>,
): Promise<Reply> => {
  const model = deps
    .routes()
    .models(deps.clock())
    .find(({ id }) => id === params.model);
  if (model === undefined) throw new AppError('model_not_found', undefined, { details: { param: 'model' } });
  checkModel(caller, model.id);
  return { status: 200, body: toModel(model) };
};
