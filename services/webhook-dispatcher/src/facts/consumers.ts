import { events } from '@svc/contracts';
import { type Consumer, type Messaging, startBatchConsumer, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { type AuthFactsDeps, applyAuthFacts, authSubjects } from './apply-auth-facts.ts';
import { applyDisconnectionFact } from './apply-disconnection-fact.ts';
import { applySubscriptionFact, subscriptionSubjects } from './apply-subscription-fact.ts';

/** What the consumers need. */
export interface FactConsumersDeps extends AuthFactsDeps {
  readonly database: Knex;
  readonly messaging: Messaging;
}

/** Facts of auth in one transaction. */
const AUTH_BATCH = 100;

/** Starts turning facts of auth and billing into events. */
export const startFactConsumers = (deps: FactConsumersDeps): Consumer[] => {
  const { database, messaging } = deps;
  return [
    startBatchConsumer({
      messaging,
      database,
      name: 'webhook-dispatcher_connections',
      // Versions are compared for a whole batch at once (`takeNewFacts`); `ordered` would ask twice for each fact.
      subjects: authSubjects,
      batch: AUTH_BATCH,
      handle: (trx, facts, metas) =>
        applyAuthFacts(
          trx,
          facts.map((fact, index) => ({ ...fact, deliveries: metas[index]?.deliveries ?? 1 })),
          deps,
        ),
    }),
    startConsumer({
      messaging,
      database,
      name: 'webhook-dispatcher_disconnections',
      subjects: [events.appDisconnected.subject],
      handle: (trx, fact, { deliveries }) => applyDisconnectionFact(trx, { fact, deliveries }, deps),
    }),
    startConsumer({
      messaging,
      database,
      name: 'webhook-dispatcher_subscriptions',
      subjects: subscriptionSubjects,
      ordered: true,
      handle: (trx, fact) => applySubscriptionFact(trx, fact, deps),
    }),
  ];
};
