import { serviceOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { findUncertain, listUncertain } from './request-queries.ts';
import { applyKeyOutcomes, applyOutcomes, type SettlementDeps } from './settle-requests.ts';

/** Binds the operator routes of uncertain requests. */
export const reservationOperatorRoutes = (deps: SettlementDeps): Binding[] => [
  bind(serviceOperations.listUncertainReservations, async ({ query: { after, limit } }) => {
    const found = await listUncertain(deps.database, { after, limit: limit + 1 });
    return { status: 200, body: { data: found.slice(0, limit), has_more: found.length > limit } };
  }),
  bind(serviceOperations.settleUncertainReservation, async ({ params: { request_id }, body: { cost_micros } }) => ({
    status: 200,
    body: await settleUncertain(deps, request_id, cost_micros),
  })),
];

/** Settles an uncertain request at a cost, or at its estimate if the cost is null. Leaves other requests unchanged. */
const settleUncertain = async (deps: SettlementDeps, requestId: string, costMicros: number | null) => {
  const request = await findUncertain(deps.database, requestId);
  if (request === undefined) throw new AppError('not_found');
  const { state, keyOwner } = request;
  if (state !== 'uncertain') return { request_id: requestId, state, settled: false };
  const outcome = costMicros === null ? 'estimate' : 'settled';
  const [result] =
    keyOwner === null
      ? await applyOutcomes(deps, [{ requestId, outcome, costMicros }], 'operator')
      : await applyKeyOutcomes(
          deps,
          [{ request_id: requestId, svc_user_id: keyOwner, outcome, cost_micros: costMicros ?? 0 }],
          'operator',
        );
  return { request_id: requestId, state: result?.state ?? state, settled: result?.effect === 'settled' };
};
