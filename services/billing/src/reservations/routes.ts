import { admissionChannel, internalRoutes, readAdmissionsCall } from '@svc/contracts';
import { type Binding, bind, createLineChannel, type LineChannel, type LineChannelOptions } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { answerAdmissions } from './answer-admissions.ts';
import { readKeyStanding } from './read-key-standing.ts';
import { createSettlement, type SettlementDeps } from './settle-requests.ts';

/** How admission and settlement are reached, for which every request of the product waits. */
export interface ReservationBorder {
  readonly bindings: readonly Binding[];
  readonly channel: LineChannel;
}

/** What the border needs beside the operations behind it. */
type BorderDeps = AdmissionDeps &
  SettlementDeps &
  Pick<LineChannelOptions<ReturnType<typeof readAdmissionsCall>>, 'tokens' | 'logger' | 'metrics' | 'isUnavailable'>;

/** Opens the internal routes and the channel of admissions. Those who come over either are decided together. */
export const openReservationBorder = (deps: BorderDeps): ReservationBorder => {
  const admit = createAdmission(deps);
  const settle = createSettlement(deps);
  const { tokens, logger, metrics, isUnavailable } = deps;
  return {
    bindings: [
      bind(internalRoutes.admitRequest, async ({ body }) => ({ status: 200, body: await admit(body) })),
      bind(internalRoutes.readKeyStanding, async ({ params, body }) => ({
        status: 200,
        body: await readKeyStanding(deps.database, params.svc_user_id, body),
      })),
      bind(internalRoutes.settleRequests, async ({ body }) => {
        const results = await settle(body.settlements);
        return {
          status: 200,
          body: { results: results.map(({ requestId, state }) => ({ request_id: requestId, state })) },
        };
      }),
    ],
    channel: createLineChannel({
      ...admissionChannel,
      readQuestion: readAdmissionsCall,
      answer: (call) => answerAdmissions(call, admit),
      ...{ tokens, logger, metrics, isUnavailable },
    }),
  };
};
