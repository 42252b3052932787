import { internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { type AdmissionDeps, admitRequest } from './admit-request.ts';
import { type SettlementDeps, settleRequests } from './settle-requests.ts';

/** Internal routes of admission and settlement. */
export const reservationRoutes = (deps: AdmissionDeps & SettlementDeps): Binding[] => [
  bind(internalRoutes.admitRequest, async ({ body }) => ({ status: 200, body: await admitRequest(deps, body) })),
  bind(internalRoutes.settleRequests, async ({ body }) => {
    const results = await settleRequests(deps, body.settlements, 'call');
    return {
      status: 200,
      body: { results: results.map(({ requestId, state }) => ({ request_id: requestId, state })) },
    };
  }),
];
