import { type Admission, type AdmissionRequest, internalRoutes } from '@svc/contracts';
import { type Binding, bind, type Logger } from '@svc/service-kit';
import { type AdmissionDeps, createAdmission } from './admit-request.ts';
import { readKeySpending } from './read-key-spending.ts';
import { readKeyStanding } from './read-key-standing.ts';
import { createSettlement, type SettlementDeps } from './settle-requests.ts';

/** Binds the internal routes of admission and settlement. Every request of the product waits for these. */
export const reservationRoutes = (deps: AdmissionDeps & SettlementDeps): readonly Binding[] => {
  const admit = createAdmission(deps);
  const settle = createSettlement(deps);
  return [
    bind(internalRoutes.admitRequest, async ({ body }) => ({ status: 200, body: await admit(body) })),
    bind(internalRoutes.admitRequests, async ({ body }) => ({
      status: 200,
      body: { decisions: await decideAll(body.requests, admit, deps.logger) },
    })),
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

/** Decides requests concurrently. Throws the first failure if all fail, for example because the database is down. */
const decideAll = async (
  requests: readonly AdmissionRequest[],
  admit: (request: AdmissionRequest) => Promise<Admission>,
  logger: Logger,
): Promise<(Admission | null)[]> => {
  const outcomes = await Promise.allSettled(requests.map(admit));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  const [first] = failures;
  if (first !== undefined && failures.length === requests.length) throw first.reason;
  for (const { reason } of failures) logger.error({ err: reason }, 'could not decide on a request');
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : null));
};
