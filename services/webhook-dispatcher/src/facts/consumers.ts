import { type Consumer, type Messaging, startBatchConsumer, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { type AuthFactsDeps, applyAuthFacts, authSubjects } from './apply-auth-facts.ts';
import { applySubscriptionFact, subscriptionSubjects } from './apply-subscription-fact.ts';

/** What the consumers need. */
export interface FactConsumersDeps extends AuthFactsDeps {
  readonly database: Knex;
  readonly messaging: Messaging;
  /** Called when facts have been applied: the worker looks for what is due. */
  readonly onApplied: () => void;
}

/** Facts of auth in one transaction: the suspension of an app ends all of its connections at once. */
const AUTH_BATCH = 100;

/** Starts turning facts of auth and billing into events. */
export function startFactConsumers(deps: FactConsumersDeps): Consumer[] {
  const { database, messaging } = deps;
  return [
    startBatchConsumer({
      messaging,
      database,
      name: 'webhook-dispatcher_connections',
      // Versions are compared for a whole batch at once (`takeNewFacts`); `ordered` would ask twice for each fact.
      subjects: authSubjects,
      batch: AUTH_BATCH,
      handle: async (trx, facts) => {
        await applyAuthFacts(trx, facts, deps);
        hintAfter(trx, deps);
      },
    }),
    startConsumer({
      messaging,
      database,
      name: 'webhook-dispatcher_subscriptions',
      subjects: subscriptionSubjects,
      ordered: true,
      handle: async (trx, fact) => {
        await applySubscriptionFact(trx, fact, deps);
        hintAfter(trx, deps);
      },
    }),
  ];
}

/** What is not committed cannot be claimed yet. */
function hintAfter(trx: Knex.Transaction, { onApplied }: FactConsumersDeps): void {
  // A rollback is the consumer's to report; there is then nothing new to look for.
  trx.executionPromise.then(onApplied, () => undefined);
}
