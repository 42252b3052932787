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
import { type EventDraft, lockLanes, type StoreDeps, storeInLanes } from '../events/index.ts';
import { takeNewFacts, type VersionedFact } from './aggregate-versions.ts';
import { allEnded } from './all-ended.ts';
import { listHandledRevisions } from './apply-subscription-fact.ts';

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

/** What users are subscribed to, as apps are told of it. */
export type Snapshots = ReadonlyMap<string, SubscriptionSnapshot | null>;

type ConnectionFact = EventOf<(typeof authSubjects)[0] | (typeof authSubjects)[1]> & VersionedFact;

/** Reads what the apps of new connections are told of their users' subscriptions, before a transaction that stores it. */
export async function readSnapshotsFor(
  facts: readonly EventOf<(typeof authSubjects)[number]>[],
  deps: AuthFactsDeps,
): Promise<Snapshots> {
  const created = facts.filter((fact) => hasSubject(fact, events.connectionCreated.subject));
  return await readSnapshots(unlike(created.map(({ data }) => data.svc_user_id)), deps);
}

/**
 * Applies facts in their order: connections made are told to the app, each followed by the user's subscription; connections
 * ended are told; a deleted app takes its configuration and events with it. All or none, as `trx` commits or not.
 */
export async function applyAuthFacts(
  trx: Knex.Transaction,
  facts: readonly AuthFact[],
  snapshots: Snapshots,
  deps: AuthFactsDeps,
): Promise<void> {
  let run: ConnectionFact[] = [];
  for (const fact of facts) {
    if (!hasSubject(fact, events.appDeleted.subject)) {
      run.push(fact);
      continue;
    }
    // Everything before belongs to the app while it was there.
    await applyConnectionFacts(trx, run, snapshots, deps);
    run = [];
    await removeApp(trx, fact.data.client_id);
  }
  await applyConnectionFacts(trx, run, snapshots, deps);
}

/** Statements that do not need each other's answers are asked at once; they run in the order in which they are asked. */
async function applyConnectionFacts(
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  read: Snapshots,
  deps: AuthFactsDeps,
): Promise<void> {
  if (facts.length === 0) return;
  const userIds = unlike(facts.map(({ data }) => data.svc_user_id));
  const [, handled, fresh, lanes] = await allEnded([
    lockUsers(trx, userIds),
    listHandledRevisions(trx, userIds),
    takeNewFacts(trx, facts),
    lockLanes(trx, unlike(facts.map(({ data }) => data.client_id))),
  ]);
  const snapshots = await renewStale(read, handled, deps);
  const drafts = fresh.flatMap((fact) => toDrafts(fact, snapshots));
  await allEnded([projectConnections(trx, fresh, snapshots), storeInLanes(trx, lanes, drafts, deps)]);
}

/**
 * A subscription that has changed since it was read, and whose change was handled before this connection was there to be told of
 * it, is read again. What changes from now on is told to the connection: its fact waits for the locked user.
 */
async function renewStale(
  read: Snapshots,
  handled: ReadonlyMap<string, number>,
  deps: AuthFactsDeps,
): Promise<Snapshots> {
  const isStale = (userId: string) => (handled.get(userId) ?? 0) > (read.get(userId)?.revision ?? 0);
  const renewed = await readSnapshots([...read.keys()].filter(isStale), deps);
  return new Map([...read, ...renewed]);
}

async function readSnapshots(userIds: readonly string[], deps: AuthFactsDeps): Promise<Snapshots> {
  if (userIds.length === 0) return new Map();
  const snapshots = await deps.readSnapshots(userIds);
  return new Map(userIds.map((userId, index) => [userId, snapshots[index] ?? null]));
}

/** Several facts about one connection leave the state of the last. */
async function projectConnections(
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  snapshots: Snapshots,
): Promise<void> {
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
  await allEnded([
    made.size > 0 ? upsertConnections(trx, [...made.values()]) : undefined,
    ended.size > 0 ? updateConnectionsEnded(trx, [...ended.values()]) : undefined,
  ]);
}

function toDrafts(fact: ConnectionFact, snapshots: Snapshots): EventDraft[] {
  const origin = { clientId: fact.data.client_id, userId: fact.data.svc_user_id, factId: fact.id };
  if (hasSubject(fact, events.connectionRevoked.subject)) {
    const { reason, revoked_at } = fact.data;
    return [{ ...origin, event: 'integration.revoked', data: { reason, revoked_at } }];
  }
  const { scope, connected_at } = fact.data;
  const connected: EventDraft = { ...origin, event: 'integration.connected', data: { scope, connected_at } };
  const snapshot = snapshots.get(origin.userId) ?? null;
  return snapshot === null ? [connected] : [connected, { ...origin, event: 'subscription.updated', data: snapshot }];
}

async function removeApp(trx: Knex.Transaction, clientId: string): Promise<void> {
  await deleteConfiguration(trx, clientId);
  await deleteConnectionsOfApp(trx, clientId);
}

function unlike(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
