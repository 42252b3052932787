import { type Admission, type DelegatedAdmissionRequest, internalRoutes } from '@svc/contracts';
import { type Binding, bind, type Logger } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { createSettlement, type SettlementDeps } from './settle-requests.ts';

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
