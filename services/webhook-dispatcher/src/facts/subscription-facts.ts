import { events } from '@svc/contracts';
import { type Consumer, type EventOf, hasSubject, startConsumer } from '@svc/messaging';
import type { Knex } from 'knex';
import { lockUsers, updateToldRevision } from '../connections/index.ts';
import { type EventDraft, storeEvents } from '../events/index.ts';
import type { FactDeps } from './fact-deps.ts';

const { subscriptionChanged, subscriptionEnded } = events;
type SubscriptionFact = EventOf<typeof subscriptionChanged.subject | typeof subscriptionEnded.subject>;

/** Consumes changes of subscriptions, and sends each to the user's connected apps that have an older revision. */
export const startSubscriptionConsumer = (deps: FactDeps): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: 'webhook-dispatcher_subscriptions',
    subjects: [subscriptionChanged.subject, subscriptionEnded.subject],
    ordered: true,
    handle: (trx, fact) => applyFact(trx, fact, deps),
  });

const applyFact = async (trx: Knex.Transaction, fact: SubscriptionFact, deps: FactDeps): Promise<void> => {
  const { svc_user_id: userId, revision } = fact.data;
  await lockUsers(trx, [userId]);
  const clientIds = await updateToldRevision(trx, userId, revision);
  await storeEvents(
    trx,
    clientIds.map((clientId) => toDraft(fact, clientId)),
    deps,
  );
};

const toDraft = (fact: SubscriptionFact, clientId: string): EventDraft => {
  const { svc_user_id: userId, ...data } = fact.data;
  const event = hasSubject(fact, subscriptionEnded.subject) ? 'subscription.ended' : 'subscription.updated';
  return { clientId, userId, event, data, factId: fact.id };
};
