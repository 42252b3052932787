import type { Reply } from '@svc/service-kit';
import type { GatewayDeps } from './gateway-deps.ts';

/** Models with a certified route, in the common wire format. */
export const listModels = async (deps: GatewayDeps): Promise<Reply> => {
  const models = deps.routes().models(deps.clock());
  const data = models.map(({ id, ownedBy, certifiedFromMs }) => ({
    id,
    object: 'model',
    created: Math.floor(certifiedFromMs / 1000),
    owned_by: ownedBy,
  }));
  return { status: 200, body: { object: 'list', data } };
};
