import { events, type SubscriptionSnapshot, subscriptionAggregate } from '@svc/contracts';
import {
  type Consumer,
  type EpochVersion,
  type EventOf,
  hasSubject,
  type Messaging,
  readVersions,
  startConsumer,
} from '@svc/messaging';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';
import { lockUsers, updateToldRevision } from '../connections.ts';
import { type EventDraft, type StoreDeps, storeEvents } from '../events/index.ts';

/** Name under which the handled versions of subscriptions are kept. */
const SUBSCRIPTIONS = 'webhook-dispatcher_subscriptions';

const { subscriptionChanged, subscriptionEnded } = events;

type SubscriptionFact = EventOf<typeof subscriptionChanged.subject | typeof subscriptionEnded.subject>;

/** Subscriptions of users, read from billing before the transaction that sends them. */
export interface UserSubscriptions {
  readonly snapshots: ReadonlyMap<string, SubscriptionSnapshot | null>;
  /** Versions of the subscriptions that this service had handled before it asked billing. */
  readonly handled: ReadonlyMap<string, EpochVersion>;
}

/** A change of the subscription was handled after billing had been asked. Asking again succeeds. */
class SubscriptionMoved extends Error {
  override readonly name = 'SubscriptionMoved';
  readonly kind = 'unavailable';
  readonly code = 'webhook.subscription_moved';
}

/** Rejects with kind `unavailable` if billing is away. */
export const readUserSubscriptions = async (
  { database, billing }: { readonly database: Knex; readonly billing: BillingClient },
  userIds: readonly string[],
): Promise<UserSubscriptions> => {
  if (userIds.length === 0) return { snapshots: new Map(), handled: new Map() };
  const handled = await readVersions(database, SUBSCRIPTIONS, userIds.map(subscriptionAggregate));
  const snapshots = await billing.readSnapshots(userIds);
  return { snapshots: new Map(userIds.map((userId, index) => [userId, snapshots[index] ?? null])), handled };
};

/**
 * Locks the users until `trx` ends. Throws SubscriptionMoved if a change of one of their subscriptions was handled since
 * billing was asked: that change did not see the connections of this transaction, and the snapshot may not contain it.
 */
export const lockSubscriptions = async (
  trx: Knex.Transaction,
  { handled }: UserSubscriptions,
  userIds: readonly string[],
): Promise<void> => {
  if (userIds.length === 0) return;
  await lockUsers(trx, userIds);
  const aggregates = userIds.map(subscriptionAggregate);
  const present = await readVersions(trx, SUBSCRIPTIONS, aggregates);
  for (const aggregate of aggregates) {
    const before = handled.get(aggregate);
    const now = present.get(aggregate);
    if (before?.epoch !== now?.epoch || before?.version !== now?.version) throw new SubscriptionMoved();
  }
};

/**
 * Consumes changes of subscriptions. Sends each to the user's connected apps that have an older revision, and to the webhook of
 * the account itself.
 */
export const startSubscriptionConsumer = (deps: FactDeps): Consumer =>
  startConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: SUBSCRIPTIONS,
    subjects: [subscriptionChanged.subject, subscriptionEnded.subject],
    ordered: true,
    handle: (trx, fact) => applyFact(trx, fact, deps),
  });

const applyFact = async (trx: Knex.Transaction, fact: SubscriptionFact, deps: FactDeps): Promise<void> => {
  const { svc_user_id: userId, revision } = fact.data;
  await lockUsers(trx, [userId]);
  const clientIds = await updateToldRevision(trx, userId, revision);
  await storeEvents(trx, [...clientIds.map((clientId) => toDraft(fact, clientId)), toAccountDraft(fact)], deps);
};

const toDraft = (fact: SubscriptionFact, ownerId: string): EventDraft => {
  const origin = { ownerId, userId: fact.data.svc_user_id, factId: fact.id };
  if (hasSubject(fact, subscriptionEnded.subject)) {
    const { status, ended_at, revision } = fact.data;
    return { ...origin, event: 'subscription.ended', data: { status, ended_at, revision } };
  }
  const { svc_user_id: _user, ...data } = fact.data;
  return { ...origin, event: 'subscription.updated', data };
};

const toAccountDraft = (fact: SubscriptionFact): EventDraft => {
  const { svc_user_id: userId, status, revision } = fact.data;
  const present = hasSubject(fact, subscriptionEnded.subject)
    ? { plan: null, current_period_end: fact.data.current_period_end }
    : { plan: fact.data.plan, current_period_end: fact.data.period.end };
  const data = { status, ...present, revision };
  return { ownerId: userId, userId, event: 'subscription.changed', data, factId: fact.id };
};

export interface FactDeps extends StoreDeps {
  readonly database: Knex;
  readonly messaging: Messaging;
}
