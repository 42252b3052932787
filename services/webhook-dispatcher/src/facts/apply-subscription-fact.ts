import { events } from '@svc/contracts';
import { type EventOf, hasSubject } from '@svc/messaging';
import type { Knex } from 'knex';
import { lockUsers, updateToldRevision } from '../connections/index.ts';
import { type EventDraft, type StoreDeps, storeEvents } from '../events/index.ts';

/** Facts of billing that concern webhooks. */
export const subscriptionSubjects = [events.subscriptionChanged.subject, events.subscriptionEnded.subject] as const;

/** One of the facts of billing that concern webhooks. */
export type SubscriptionFact = EventOf<(typeof subscriptionSubjects)[number]>;

/** Tells a change of a user's subscription to each app that the user is connected to and that does not know it yet. */
export const applySubscriptionFact = async (
  trx: Knex.Transaction,
  fact: SubscriptionFact,
  deps: StoreDeps,
): Promise<void> => {
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
  const event = hasSubject(fact, events.subscriptionEnded.subject) ? 'subscription.ended' : 'subscription.updated';
  return { clientId, userId, event, data, factId: fact.id };
};
