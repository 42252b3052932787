import { internalRoutes } from '@svc/contracts';
import { type Binding, bind, HANDLED } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { answerAdmissions } from './answer-admissions.ts';
import { createSettlement, type SettlementDeps } from './settle-requests.ts';

/** Internal routes of admission and settlement, for which every request of the product waits. */
export const reservationRoutes = (deps: AdmissionDeps & SettlementDeps): Binding[] => {
  const admit = createAdmission(deps);
  const settle = createSettlement(deps);
  return [
    bind(internalRoutes.admitRequest, async ({ body }) => ({ status: 200, body: await admit(body) })),
    bind(internalRoutes.admitRequests, async ({ body, res, log }) => {
      await answerAdmissions({ res, log, admit }, body.admissions);
      return HANDLED;
    }),
    bind(internalRoutes.settleRequests, async ({ body }) => {
      const results = await settle(body.settlements);
      return {
        status: 200,
        body: { results: results.map(({ requestId, state }) => ({ request_id: requestId, state })) },
      };
    }),
  ];
};
