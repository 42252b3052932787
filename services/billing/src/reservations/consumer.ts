import { events, type UsageFact } from '@svc/contracts';
import { type Consumer, type EventOf, type Messaging, startBatchConsumer } from '@svc/messaging';
import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { outcomeOfFact } from '../leases/index.ts';
import { insertRequestDetails } from './request-queries.ts';
import { applyKeyOutcomes, applyOutcomes, type SettlementDeps } from './settle-requests.ts';
import { giveUpUnadmitted, insertUnadmitted, lockPayingWallets, type SettlementInput } from './settlement-queries.ts';

type UsageEvent = EventOf<typeof events.usageRecorded.subject>;

/** Name of the durable consumer. A new name would redeliver everything. */
const DURABLE = 'billing_usage';
/** Messages per transaction. Each carries up to 500 requests, whose owners stay locked until the commit. */
const BATCH_MESSAGES = 4;
/** Ids in one log line. */
const IDS_PER_LINE = 100;

/** Starts the consumer that settles requests from the usage facts of gateways. */
export const startUsageConsumer = (deps: SettlementDeps & { readonly messaging: Messaging }): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: DURABLE,
    subjects: [events.usageRecorded.subject],
    batch: BATCH_MESSAGES,
    prepare: async (events) => {
      // Runs in separate transactions: the settlement must hold no tombstone for which an admission waits. Idempotent.
      const delegated = events.flatMap(({ data }) => data.records).filter(({ kind }) => kind === 'delegated');
      const givenUp = await giveUpUnadmitted(deps.database, delegated.map(toInput));
      return (trx, usageEvents) => settleUsage({ ...deps, database: trx }, usageEvents, givenUp);
    },
  });

/** Settles every request in the events. Stores usage of requests that were never admitted, which raises an alert. */
const settleUsage = async (
  deps: SettlementDeps & { readonly database: Knex.Transaction },
  usageEvents: readonly UsageEvent[],
  givenUp: readonly string[],
): Promise<void> => {
  const records = usageEvents.flatMap(({ id, data }) => data.records.map((fact) => ({ eventId: id, fact })));
  const factsOf = (kind: UsageFact['kind']) => records.map(({ fact }) => fact).filter((fact) => fact.kind === kind);
  const delegated = factsOf('delegated');
  const keyed = factsOf('api_key');
  await lockPayingWallets(deps.database, {
    userIds: keyed.map(({ svc_user_id }) => svc_user_id),
    requestIds: delegated.map(({ request_id }) => request_id),
  });
  const ofKeys = await applyKeyOutcomes(deps, keyed.map(outcomeOfFact), 'fact');
  const ofApps = delegated.length === 0 ? [] : await applyOutcomes(deps, delegated.map(toInput), 'fact', givenUp);
  await insertRequestDetails(deps.database, delegated);
  const results = [...ofKeys, ...ofApps];
  logRequests(
    deps.logger,
    results.map(({ requestId }) => requestId),
  );
  const unknown = new Set(results.filter(({ effect }) => effect === 'unknown').map(({ requestId }) => requestId));
  // Outcomes without a known cost are not stored.
  const unadmitted = records.filter(({ fact }) => fact.outcome === 'settled' && unknown.has(fact.request_id));
  deps.meters.unadmittedUsage(unadmitted.length);
  await insertUnadmitted(
    deps.database,
    unadmitted.map(({ eventId, fact }) => ({ requestId: fact.request_id, eventId, fact })),
  );
};

/** Names every request, as a request of an API key has no call to billing in whose line it could stand. */
const logRequests = (logger: Logger, requestIds: readonly string[]): void => {
  for (let start = 0; start < requestIds.length; start += IDS_PER_LINE) {
    const request_ids = requestIds.slice(start, start + IDS_PER_LINE);
    logger.info({ consumer: DURABLE, request_ids, count: request_ids.length }, 'usage is settled');
  }
};

const toInput = (fact: UsageFact): SettlementInput => ({
  requestId: fact.request_id,
  outcome: fact.outcome,
  costMicros: fact.outcome === 'settled' ? fact.cost_micros : null,
});
