import { events, type UsageFact } from '@svc/contracts';
import { type Consumer, type EventOf, type Messaging, startBatchConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { insertRequestDetails } from './detail-queries.ts';
import { type RequestEstimate, shrinkHolds } from './held-queries.ts';
import type { Settlement } from './reservation.ts';
import { type SettlementDeps, settleRequests } from './settle-requests.ts';
import { insertUnadmitted } from './settlement-queries.ts';

type UsageEvent = EventOf<typeof events.usageRecorded.subject>;

/** Name of the durable consumer; changing it would deliver everything again. */
const DURABLE = 'billing_usage';
/** Messages in one transaction; each packs up to 500 requests, whose owners stay locked until it commits. */
const BATCH_MESSAGES = 4;

/** Settles from the usage that gateways tell, until stopped. */
export const startUsageConsumer = (deps: SettlementDeps & { readonly messaging: Messaging }): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: DURABLE,
    subjects: [events.usageRecorded.subject],
    batch: BATCH_MESSAGES,
    handle: (trx, usageEvents) => settleUsage(deps, trx, usageEvents),
  });

/** Settles every request that the events tell of; usage of a request that was never admitted is kept, with an alert. */
const settleUsage = async (
  deps: SettlementDeps,
  trx: Knex.Transaction,
  usageEvents: readonly UsageEvent[],
): Promise<void> => {
  const told = usageEvents.flatMap(({ id, data }) => data.records.map((fact) => ({ eventId: id, fact })));
  if (told.length === 0) return;
  // Committed by itself: the settlement locks all of its reservations before the first wallet. A repetition changes nothing.
  await shrinkHolds(
    deps.database,
    told.flatMap(({ fact }) => toEstimate(fact)),
  );
  const results = await settleRequests(
    { ...deps, database: trx },
    told.map(({ fact }) => toSettlement(fact)),
    'fact',
  );
  await insertRequestDetails(
    trx,
    told.map(({ fact }) => fact),
  );
  const unknown = new Set(results.filter(({ effect }) => effect === 'unknown').map(({ requestId }) => requestId));
  // Nothing was spent as far as anybody knows: what has no cost is not kept.
  const unadmitted = told.filter(({ fact }) => fact.outcome === 'settled' && unknown.has(fact.request_id));
  deps.meters.unadmittedUsage(unadmitted.length);
  await insertUnadmitted(
    trx,
    unadmitted.map(({ eventId, fact }) => ({ requestId: fact.request_id, eventId, fact })),
  );
};

/** Of an API-key request with an unknown outcome, only what it has cost as far as its gateway knows stays on hold. */
const toEstimate = ({ kind, outcome, request_id, cost_micros }: UsageFact): RequestEstimate[] =>
  kind === 'api_key' && outcome === 'uncertain' ? [{ requestId: request_id, estimateMicros: cost_micros }] : [];

const toSettlement = (fact: UsageFact): Settlement => ({
  request_id: fact.request_id,
  result:
    fact.outcome === 'settled' ? { outcome: fact.outcome, cost_micros: fact.cost_micros } : { outcome: fact.outcome },
  tokens: fact.input_tokens === null ? null : fact.input_tokens + (fact.output_tokens ?? 0),
});
