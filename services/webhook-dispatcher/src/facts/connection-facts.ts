import { hash } from 'node:crypto';
import { connectionAggregate, events, type SubscriptionSnapshot } from '@svc/contracts';
import {
  type Consumer,
  type DeliveryMeta,
  type EventOf,
  hasSubject,
  startBatchConsumer,
  type TurnOptions,
  takeTurns,
  type VersionedFact,
} from '@svc/messaging';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';
import { type Connection, type ConnectionKey, updateConnectionsEnded, upsertConnections } from '../connections.ts';
import { endLane } from '../ended-lanes.ts';
import { type EventDraft, storeEvents } from '../events/index.ts';
import {
  type FactDeps,
  lockSubscriptions,
  readUserSubscriptions,
  type UserSubscriptions,
} from './subscription-facts.ts';

export interface ConnectionFactDeps extends FactDeps {
  readonly billing: BillingClient;
}

const CONNECTIONS = 'webhook-dispatcher_connections';
const BATCH = 100;
const { connectionCreated, connectionRevoked, appDeleted } = events;

/**
 * Order of each connection's facts, which two consumers handle. A missing version counts as lost at the eighth delivery of a
 * later one, after nearly four minutes: by then the other consumer or replica has handled it or failed for good.
 */
const CONNECTION_TURNS: TurnOptions = { versionsOf: CONNECTIONS, deliveriesMax: { known: 8, unseen: 8 } };

type ConnectionFact = EventOf<typeof connectionCreated.subject | typeof connectionRevoked.subject> & VersionedFact;
type Fact = EventOf<typeof appDeleted.subject> | ConnectionFact;

/**
 * Consumes facts about connections and deleted apps, many in one transaction. A new connection is sent to its app, followed by
 * the user's subscription; an ended one is sent too. The webhook of a deleted app ends.
 * While billing is away the consumer waits, so that a connection and its subscription keep their places in the order.
 */
export const startConnectionConsumer = (deps: ConnectionFactDeps): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: CONNECTIONS,
    subjects: [connectionCreated.subject, connectionRevoked.subject, appDeleted.subject],
    batch: BATCH,
    probe: deps.billing.probe,
    prepare: async (events) => {
      const subscriptions = await readUserSubscriptions(deps, connectedUsers(events));
      return (trx, facts, metas) =>
        applyFacts(
          trx,
          facts.map((fact, index) => ({ ...fact, deliveries: deliveriesOf(metas[index]) })),
          { ...deps, subscriptions },
        );
    },
  });

interface ApplyDeps extends ConnectionFactDeps {
  readonly subscriptions: UserSubscriptions;
}

const connectedUsers = (facts: readonly EventOf<Fact['subject']>[]): string[] => {
  const created = facts.filter((fact) => hasSubject(fact, connectionCreated.subject));
  return [...new Set(created.map(({ data }) => data.svc_user_id))];
};

const deliveriesOf = (meta: DeliveryMeta | undefined): number => meta?.deliveries ?? 1;

const applyFacts = async (trx: Knex.Transaction, facts: readonly Fact[], deps: ApplyDeps): Promise<void> => {
  let run: ConnectionFact[] = [];
  for (const fact of facts) {
    if (!hasSubject(fact, appDeleted.subject)) {
      run.push(fact);
      continue;
    }
    // Earlier facts still concern the app.
    await applyConnectionFacts(trx, run, deps);
    run = [];
    await endLane(trx, fact.data.client_id);
  }
  await applyConnectionFacts(trx, run, deps);
};

const applyConnectionFacts = async (
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  deps: ApplyDeps,
): Promise<void> => {
  if (facts.length === 0) return;
  const fresh = await takeTurns(trx, CONNECTION_TURNS, facts);
  deps.messaging.meters.factsDropped(CONNECTIONS, facts.length - fresh.length);
  await lockSubscriptions(trx, deps.subscriptions, connectedUsers(fresh));
  const { snapshots } = deps.subscriptions;
  await projectConnections(trx, fresh, snapshots);
  await storeEvents(
    trx,
    fresh.flatMap((fact) => toDrafts(fact, snapshots.get(fact.data.svc_user_id) ?? null)),
    deps,
  );
};

/** Writes the last state of each connection. */
const projectConnections = async (
  trx: Knex.Transaction,
  facts: readonly ConnectionFact[],
  snapshots: ReadonlyMap<string, SubscriptionSnapshot | null>,
): Promise<void> => {
  const made = new Map<string, Connection>();
  const ended = new Map<string, ConnectionKey>();
  for (const fact of facts) {
    const { svc_user_id: userId, client_id: clientId } = fact.data;
    if (hasSubject(fact, connectionRevoked.subject)) {
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

const toDrafts = (fact: ConnectionFact, snapshot: SubscriptionSnapshot | null): EventDraft[] => {
  const origin = { ownerId: fact.data.client_id, userId: fact.data.svc_user_id, factId: fact.id };
  if (hasSubject(fact, connectionRevoked.subject)) {
    const { reason, revoked_at } = fact.data;
    return [{ ...origin, event: 'integration.revoked', data: { reason, revoked_at } }];
  }
  const { scope, connected_at } = fact.data;
  const connected: EventDraft = { ...origin, event: 'integration.connected', data: { scope, connected_at } };
  return snapshot === null ? [connected] : [connected, { ...origin, event: 'subscription.updated', data: snapshot }];
};

const DISCONNECTIONS = 'webhook-dispatcher_disconnections';
/** Characters of a UUID of version 7 up to the end of its time (RFC 9562 section 5.7). */
const TIME_GROUPS_CHARACTERS = 13;
const { appDisconnected } = events;
type DisconnectionFact = EventOf<typeof appDisconnected.subject>;

/**
 * Consumes facts that end many connections of a suspended app at once, and sends each end to the app in the order of the fact. The
 * consumer is separate, so that other apps do not wait for an app with very many connections. Versions keep the facts of each
 * connection in order over both consumers.
 */
export const startDisconnectionConsumer = (deps: ConnectionFactDeps): Consumer =>
  startBatchConsumer({
    messaging: deps.messaging,
    database: deps.database,
    name: DISCONNECTIONS,
    subjects: [appDisconnected.subject],
    batch: 1,
    probe: deps.billing.probe,
    prepare: async (_, metas) => {
      // It may wait for a connection whose consumer waits for billing. That must not use up the deliveries of this fact.
      if (metas.some(({ deliveries }) => deliveries > 1)) await deps.billing.probe();
      return async (trx, [fact], [meta]) => {
        if (fact !== undefined && meta !== undefined) await applyDisconnections(trx, { fact, meta }, deps);
      };
    },
  });

const applyDisconnections = async (
  trx: Knex.Transaction,
  { fact, meta }: { readonly fact: DisconnectionFact; readonly meta: DeliveryMeta },
  deps: FactDeps,
): Promise<void> => {
  const { client_id: clientId, revoked_at, connections } = fact.data;
  const ends = connections.map(({ svc_user_id: userId, version }) => ({
    userId,
    clientId,
    aggregate: connectionAggregate(userId, clientId),
    version,
    epoch: fact.epoch,
    deliveries: meta.deliveries,
  }));
  const fresh = await takeTurns(trx, CONNECTION_TURNS, ends);
  deps.messaging.meters.factsDropped(DISCONNECTIONS, ends.length - fresh.length);
  await updateConnectionsEnded(trx, fresh);
  const drafts = fresh.map(({ userId }): EventDraft => {
    const factId = partId(fact.id, userId);
    return {
      ownerId: clientId,
      userId,
      factId,
      event: 'integration.revoked',
      data: { reason: 'app_suspended', revoked_at },
    };
  });
  await storeEvents(trx, drafts, deps);
};

/**
 * Derives the id of a fact's part about one user, because a fact may cause one event of a kind and app only. It keeps the
 * time of the fact's id, by which ids of events sort.
 */
const partId = (factId: string, userId: string): string => {
  const time = factId.slice(0, TIME_GROUPS_CHARACTERS);
  const hex = hash('sha256', `${factId} ${userId}`, 'hex');
  // RFC 9562 section 5.8: version 8, in its variant.
  return [time, `8${hex.slice(0, 3)}`, `a${hex.slice(3, 6)}`, hex.slice(6, 18)].join('-');
};
