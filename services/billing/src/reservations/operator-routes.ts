import { serviceOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import { findReservationState, listUncertain } from './request-queries.ts';
import { applyOutcomes, type SettlementDeps } from './settle-requests.ts';

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
  const state = await findReservationState(deps.database, requestId);
  if (state === undefined) throw new AppError('not_found');
  if (state !== 'uncertain') return { request_id: requestId, state, settled: false };
  const outcome = costMicros === null ? 'estimate' : 'settled';
  const [result] = await applyOutcomes(deps, [{ requestId, outcome, costMicros }], 'operator');
  return { request_id: requestId, state: result?.state ?? state, settled: result?.effect === 'settled' };
};
