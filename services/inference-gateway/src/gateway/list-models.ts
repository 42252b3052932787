import type { Model, routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import type { OfferedModel } from '../routes/index.ts';
import { mayUse } from './allowed-models.ts';

/** Lists the models with a certified route that the key may use, in the common wire format. */
export const listModels = async (
  deps: InferenceDeps,
  { caller }: RequestContext<typeof routes.listModels>,
): Promise<Reply> => {
  const offered = deps.routes().models(deps.clock());
  const data = offered.filter(({ id }) => mayUse(caller, id)).map(toModel);
  return { status: 200, body: { object: 'list', data } };
};

/** Maps a model to the common wire format. */
export const toModel = ({ id, ownedBy, certifiedFromMs }: OfferedModel): Model => ({
  id,
  object: 'model',
  created: Math.floor(certifiedFromMs / 1000),
  owned_by: ownedBy,
});
