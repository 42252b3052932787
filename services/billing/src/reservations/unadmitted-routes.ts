import { type UsageFact, unadmittedOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { outcomeOfFact } from '../leases/index.ts';
import { applyKeyOutcomes, type SettlementDeps } from './settle-requests.ts';

/** Usage of a request that was never admitted. */
interface UnadmittedUsage {
  readonly requestId: string;
  readonly eventId: string;
  readonly fact: UsageFact;
  readonly receivedAt: Date;
}

type Resolution = 'charged' | 'discarded';

interface UnadmittedRow {
  readonly request_id: string;
  readonly event_id: string;
  readonly fact: UsageFact;
  readonly received_at: Date;
}

const selectWaiting = (database: Knex, since: Date) =>
  database<UnadmittedRow>('unadmitted_usage').whereNull('resolved_at').where('received_at', '>=', since);

const toUsage = ({ request_id, event_id, fact, received_at }: UnadmittedRow): UnadmittedUsage => ({
  requestId: request_id,
  eventId: event_id,
  fact,
  receivedAt: received_at,
});

/** Lists unadmitted usage that no operator has resolved, in the order of request ids. */
const listUnadmitted = async (
  database: Knex,
  { since, after, limit }: { readonly since: Date; readonly after: string | undefined; readonly limit: number },
): Promise<UnadmittedUsage[]> => {
  const waiting = selectWaiting(database, since).orderBy(['request_id', 'event_id']).limit(limit);
  return (await (after === undefined ? waiting : waiting.where('request_id', '>', after))).map(toUsage);
};

/** Locks some unresolved usage until the transaction ends. */
const lockUnadmitted = async (
  trx: Knex.Transaction,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<UnadmittedUsage[]> =>
  (await selectWaiting(trx, since).orderBy(['request_id', 'event_id']).limit(limit).forUpdate()).map(toUsage);

const resolveUnadmitted = async (
  trx: Knex.Transaction,
  usage: readonly UnadmittedUsage[],
  resolution: Resolution,
): Promise<void> => {
  await trx.raw(
    `UPDATE unadmitted_usage AS u SET resolved_at = billing_now(), resolution = ?
     FROM unnest(?::text[], ?::uuid[]) AS t (request_id, event_id)
     WHERE (u.request_id, u.event_id) = (t.request_id, t.event_id)`,
    [resolution, usage.map(({ requestId }) => requestId), usage.map(({ eventId }) => eventId)],
  );
};

/** Requests resolved by one call. Their wallets stay locked until it ends. */
const BATCH = 500;
const ALWAYS = new Date(0);

/** Binds the operator routes of usage that was never admitted. */
export const unadmittedOperatorRoutes = (deps: SettlementDeps): Binding[] => [
  bind(unadmittedOperations.list, async ({ query: { after, limit, since } }) => {
    const found = await listUnadmitted(deps.database, { since: sinceOf(since), after, limit: limit + 1 });
    return {
      status: 200,
      body: { data: found.slice(0, limit).map(showUsage), has_more: found.length > limit },
    };
  }),
  bind(unadmittedOperations.resolve, async ({ body: { action, since } }) => ({
    status: 200,
    body: await deps.database.transaction((trx) =>
      resolve({ ...deps, database: trx }, { action, since: sinceOf(since) }),
    ),
  })),
];

const sinceOf = (since: string | null | undefined): Date => (since == null ? ALWAYS : new Date(since));

const showUsage = ({ requestId, fact, receivedAt }: UnadmittedUsage) => ({
  request_id: requestId,
  kind: fact.kind,
  svc_user_id: fact.svc_user_id,
  key_id: fact.key_id,
  client_id: fact.client_id,
  cost_micros: fact.cost_micros,
  finished_at: fact.finished_at,
  received_at: receivedAt.toISOString(),
});

/**
 * Charges or discards some usage. A charge is a settlement without a lease, recorded like any other, so that it happens once. A
 * request of a plan has no wallet, so it is never charged.
 */
const resolve = async (
  deps: SettlementDeps & { readonly database: Knex.Transaction },
  { action, since }: { readonly action: 'charge' | 'discard'; readonly since: Date },
) => {
  const { database: trx } = deps;
  const usage = await lockUnadmitted(trx, { since, limit: BATCH });
  const charged = action === 'charge' ? usage.filter(({ fact }) => fact.kind === 'api_key') : [];
  const outcomes = charged.map(({ fact }) => ({ ...outcomeOfFact(fact), is_unadmitted: true as const }));
  const results = await applyKeyOutcomes(deps, outcomes, 'operator');
  const settled = charged.filter((_, place) => results[place]?.effect === 'settled');
  await resolveUnadmitted(trx, charged, 'charged');
  const others = usage.filter((each) => !charged.includes(each));
  await resolveUnadmitted(trx, others, 'discarded');
  const cost = settled.reduce((sum, { fact }) => sum + fact.cost_micros, 0);
  const uncovered = results.reduce((sum, { writtenOffMicros }) => sum + writtenOffMicros, 0);
  return {
    charged: charged.length,
    charged_micros: cost - uncovered,
    uncovered_micros: uncovered,
    discarded: others.length,
    has_more: usage.length === BATCH,
  };
};
