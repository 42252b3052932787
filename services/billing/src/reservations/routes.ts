import { type Admission, type DelegatedAdmissionRequest, internalRoutes, serviceOperations } from '@svc/contracts';
import { AppError, type Binding, bind, type Logger } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { findUncertain, listUncertain } from './request-queries.ts';
import { applyKeyOutcomes, applyOutcomes, createSettlement, type SettlementDeps } from './settle-requests.ts';

/** Binds the internal routes of admission and settlement. */
export const reservationRoutes = (deps: AdmissionDeps & SettlementDeps): readonly Binding[] => {
  const admit = createAdmission(deps);
  const settle = createSettlement(deps);
  return [
    bind(internalRoutes.admitRequests, async (context) => {
      const { requests } = context.body;
      context.nameRequests(requests.map(({ request_id }) => request_id));
      return { status: 200, body: { decisions: await decideAll(requests, admit, deps.logger) } };
    }),
    bind(internalRoutes.settleRequests, async (context) => {
      const { body } = context;
      context.nameRequests(body.settlements.map(({ request_id }) => request_id));
      const results = await settle(body.settlements);
      return {
        status: 200,
        body: { results: results.map(({ requestId, state }) => ({ request_id: requestId, state })) },
      };
    }),
  ];
};

/** Decides requests concurrently. Throws the first failure if all fail, for example because the database is down. */
const decideAll = async (
  requests: readonly DelegatedAdmissionRequest[],
  admit: (request: DelegatedAdmissionRequest) => Promise<Admission | null>,
  logger: Logger,
): Promise<(Admission | null)[]> => {
  const outcomes = await Promise.allSettled(requests.map(admit));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  const [first] = failures;
  if (first !== undefined && failures.length === requests.length) throw first.reason;
  for (const { reason } of failures) logger.error({ err: reason }, 'could not decide on a request');
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : null));
};

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
