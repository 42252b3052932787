import { events, type SubscriptionSnapshot } from '@svc/contracts';
import { type EventOf, hasSubject } from '@svc/messaging';
import type { Knex } from 'knex';
import { deleteConfiguration } from '../configurations/index.ts';
import {
  type Connection,
  deleteConnectionsOfApp,
  lockUsers,
  updateConnectionsEnded,
  upsertConnections,
} from '../connections/index.ts';
import { type EventDraft, type StoreDeps, storeEvents } from '../events/index.ts';
import { takeNewFacts, type VersionedFact } from './aggregate-versions.ts';

/** Facts of auth that concern webhooks. */
export const authSubjects = [
  events.connectionCreated.subject,
  events.connectionRevoked.subject,
  events.appDeleted.subject,
] as const;

/** One of the facts of auth that concern webhooks. */
export type AuthFact = EventOf<(typeof authSubjects)[number]> & VersionedFact;

/** What applying facts of auth needs from outside. */
export interface AuthFactsDeps extends StoreDeps {
  /** Subscriptions as apps are told of them, from billing, in the order of the users. Rejects when billing is away. */
  readonly readSnapshots: (userIds: readonly string[]) => Promise<readonly (SubscriptionSnapshot | null)[]>;
}

type ConnectionFact = EventOf<(typeof authSubjects)[0] | (typeof authSubjects)[1]> & VersionedFact;

/**
 * Applies facts in their order: connections made are told to the app, each followed by the user's subscription; connections
 * ended are told; a deleted app takes its configuration and events with it. All or none, as `trx` commits or not.
 */
export const applyAuthFacts = async (
  trx: Knex.Transaction,
  facts: readonly AuthFact[],
  deps: AuthFactsDeps,
): Promise<void> => {
  let run: ConnectionFact[] = [];
  for (const fact of facts) {
    if (!hasSubject(fact, events.appDeleted.subject)) {
      run.push(fact);
      continue;
    }
    // Everything before belongs to the app while it was there.
    await applyConnectionFacts(trx, run, deps);
    run = [];
    await removeApp(trx, fact.data.client_id);
  }
  await applyConnectionFacts(trx, run, deps);
};

const applyConnectionFacts = async (
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  deps: AuthFactsDeps,
): Promise<void> => {
  if (facts.length === 0) return;
  // Billing answers while the versions are looked at.
  const [snapshots, fresh] = await Promise.all([readSnapshots(trx, facts, deps), takeNewFacts(trx, facts)]);
  await projectConnections(trx, fresh, snapshots);
  await storeEvents(
    trx,
    fresh.flatMap((fact) => toDrafts(fact, snapshots)),
    deps,
  );
};

const readSnapshots = async (
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  deps: AuthFactsDeps,
): Promise<Map<string, SubscriptionSnapshot | null>> => {
  const created = facts.filter((fact) => hasSubject(fact, events.connectionCreated.subject));
  const userIds = [...new Set(created.map(({ data }) => data.svc_user_id))];
  if (userIds.length === 0) return new Map();
  await lockUsers(trx, userIds);
  const snapshots = await deps.readSnapshots(userIds);
  return new Map(userIds.map((userId, index) => [userId, snapshots[index] ?? null]));
};

/** Several facts about one connection leave the state of the last. */
const projectConnections = async (
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  snapshots: ReadonlyMap<string, SubscriptionSnapshot | null>,
): Promise<void> => {
  const made = new Map<string, Connection>();
  const ended = new Map<string, { userId: string; clientId: string }>();
  for (const fact of facts) {
    const { svc_user_id: userId, client_id: clientId } = fact.data;
    if (hasSubject(fact, events.connectionRevoked.subject)) {
      ended.set(fact.aggregate, { userId, clientId });
      continue;
    }
    ended.delete(fact.aggregate);
    const { scope, connected_at: connectedAt } = fact.data;
    const toldRevision = snapshots.get(userId)?.revision ?? 0;
    const connection = { userId, clientId, scope, connectedAt: new Date(connectedAt), toldRevision, isConnected: true };
    made.set(fact.aggregate, connection);
  }
  if (made.size > 0) await upsertConnections(trx, [...made.values()]);
  if (ended.size > 0) await updateConnectionsEnded(trx, [...ended.values()]);
};

const toDrafts = (fact: ConnectionFact, snapshots: ReadonlyMap<string, SubscriptionSnapshot | null>): EventDraft[] => {
  const origin = { clientId: fact.data.client_id, userId: fact.data.svc_user_id, factId: fact.id };
  if (hasSubject(fact, events.connectionRevoked.subject)) {
    const { reason, revoked_at } = fact.data;
    return [{ ...origin, event: 'integration.revoked', data: { reason, revoked_at } }];
  }
  const { scope, connected_at } = fact.data;
  const connected: EventDraft = { ...origin, event: 'integration.connected', data: { scope, connected_at } };
  const snapshot = snapshots.get(origin.userId) ?? null;
  return snapshot === null ? [connected] : [connected, { ...origin, event: 'subscription.updated', data: snapshot }];
};

const removeApp = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await deleteConfiguration(trx, clientId);
  await deleteConnectionsOfApp(trx, clientId);
};
