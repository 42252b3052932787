import { hash } from 'node:crypto';
import { connectionAggregate, events } from '@svc/contracts';
import { type Consumer, type DeliveryMeta, type EventOf, startBatchConsumer, takeTurns } from '@svc/messaging';
import type { Knex } from 'knex';
import { updateConnectionsEnded } from '../connections.ts';
import { type EventDraft, storeEvents } from '../events/index.ts';
import { CONNECTION_TURNS, type ConnectionFactDeps } from './connection-facts.ts';
import type { FactDeps } from './fact-deps.ts';

const NAME = 'webhook-dispatcher_disconnections';
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
    name: NAME,
    subjects: [appDisconnected.subject],
    batch: 1,
    probe: deps.billing.probe,
    prepare: async (_, metas) => {
      // It may wait for a connection whose consumer waits for billing. That must not use up the deliveries of this fact.
      if (metas.some(({ deliveries }) => deliveries > 1)) await deps.billing.probe();
      return async (trx, [fact], [meta]) => {
        if (fact !== undefined && meta !== undefined) await applyFact(trx, { fact, meta }, deps);
      };
    },
  });

const applyFact = async (
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
  deps.messaging.meters.factsDropped(NAME, ends.length - fresh.length);
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

/** Derives the id of a fact's part about one user, because a fact may cause one event of a kind and app only. */
const partId = (factId: string, userId: string): string => {
  const hex = hash('sha256', `${factId} ${userId}`, 'hex');
  // RFC 9562 section 5.8: version 8, in its variant.
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return groups.join('-');
};
