import { internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { readKeySpending } from './read-key-spending.ts';
import { readKeyStanding } from './read-key-standing.ts';
import { createSettlement, type SettlementDeps } from './settle-requests.ts';

/** Binds admission and settlement, for which every request of the product waits; for the internal application. */
export const reservationRoutes = (deps: AdmissionDeps & SettlementDeps): readonly Binding[] => {
  const admit = createAdmission(deps);
  const settle = createSettlement(deps);
  return [
    bind(internalRoutes.admitRequest, async ({ body }) => ({ status: 200, body: await admit(body) })),
    bind(internalRoutes.readKeyStanding, async ({ params, body }) => ({
      status: 200,
      body: await readKeyStanding(deps.database, params.svc_user_id, body),
    })),
    bind(internalRoutes.readKeySpending, async ({ params, body }) => ({
      status: 200,
      body: await readKeySpending(deps, params.svc_user_id, body.key_ids),
    })),
    bind(internalRoutes.settleRequests, async ({ body }) => {
      const results = await settle(body.settlements);
      return {
        status: 200,
        body: { results: results.map(({ requestId, state }) => ({ request_id: requestId, state })) },
      };
    }),
  ];
};
