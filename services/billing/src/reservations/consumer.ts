import { events, type UsageFact } from '@svc/contracts';
import { type Consumer, type EventOf, type Messaging, startBatchConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { insertRequestDetails } from './detail-queries.ts';
import { type RequestEstimate, shrinkHolds } from './held-queries.ts';
import type { Settlement } from './reservation.ts';
import { type SettlementDeps, settleRequests } from './settle-requests.ts';
import { insertUnadmitted } from './settlement-queries.ts';

type UsageEvent = EventOf<typeof events.usageRecorded.subject>;

/** Name of the durable consumer. A new name would redeliver everything. */
const DURABLE = 'billing_usage';
/** Messages per transaction. Each carries up to 500 requests, whose owners stay locked until the commit. */
const BATCH_MESSAGES = 4;

/** Starts the consumer that settles requests from the usage facts of gateways. */
export const startUsageConsumer = (deps: SettlementDeps & { readonly messaging: Messaging }): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: DURABLE,
    subjects: [events.usageRecorded.subject],
    batch: BATCH_MESSAGES,
    handle: (trx, usageEvents) => settleUsage(deps, trx, usageEvents),
  });

/** Settles every request in the events. Stores usage of requests that were never admitted, which raises an alert. */
const settleUsage = async (
  deps: SettlementDeps,
  trx: Knex.Transaction,
  usageEvents: readonly UsageEvent[],
): Promise<void> => {
  const records = usageEvents.flatMap(({ id, data }) => data.records.map((fact) => ({ eventId: id, fact })));
  if (records.length === 0) return;
  // Runs in its own transaction, because the settlement must lock all its reservations before any wallet. Idempotent.
  await shrinkHolds(
    deps.database,
    records.flatMap(({ fact }) => toEstimate(fact)),
  );
  const results = await settleRequests(
    { ...deps, database: trx },
    records.map(({ fact }) => toSettlement(fact)),
    'fact',
  );
  await insertRequestDetails(
    trx,
    records.map(({ fact }) => fact),
  );
  const unknown = new Set(results.filter(({ effect }) => effect === 'unknown').map(({ requestId }) => requestId));
  // Outcomes without a known cost are not stored.
  const unadmitted = records.filter(({ fact }) => fact.outcome === 'settled' && unknown.has(fact.request_id));
  deps.meters.unadmittedUsage(unadmitted.length);
  await insertUnadmitted(
    trx,
    unadmitted.map(({ eventId, fact }) => ({ requestId: fact.request_id, eventId, fact })),
  );
};

/**
 * Returns the estimate to which to reduce the hold of an API-key request: its cost so far, if the outcome is unknown.
 */
const toEstimate = ({ kind, outcome, request_id, cost_micros }: UsageFact): RequestEstimate[] =>
  kind === 'api_key' && outcome === 'uncertain' ? [{ requestId: request_id, estimateMicros: cost_micros }] : [];

const toSettlement = (fact: UsageFact): Settlement => ({
  request_id: fact.request_id,
  result:
    fact.outcome === 'settled' ? { outcome: fact.outcome, cost_micros: fact.cost_micros } : { outcome: fact.outcome },
  tokens: fact.input_tokens === null ? null : fact.input_tokens + (fact.output_tokens ?? 0),
});
