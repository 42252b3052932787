import type { Model } from '@svc/contracts';
import type { Reply } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import type { OfferedModel } from '../routes/index.ts';

/** Models with a certified route, in the common wire format. */
export const listModels = async (deps: InferenceDeps): Promise<Reply> => {
  const data = deps.routes().models(deps.clock()).map(toModel);
  return { status: 200, body: { object: 'list', data } };
};

/** A model as the common wire format shows it. */
export const toModel = ({ id, ownedBy, certifiedFromMs }: OfferedModel): Model => ({
  id,
  object: 'model',
  created: Math.floor(certifiedFromMs / 1000),
  owned_by: ownedBy,
});
