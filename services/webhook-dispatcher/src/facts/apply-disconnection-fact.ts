import { createHash } from 'node:crypto';
import { connectionAggregate, type events } from '@svc/contracts';
import type { DeliveryMeta, EventOf } from '@svc/messaging';
import type { Knex } from 'knex';
import { updateConnectionsEnded } from '../connections/index.ts';
import { type EventDraft, type StoreDeps, storeEvents } from '../events/index.ts';
import { takeNewFacts } from './aggregate-versions.ts';

/** Connections of a suspended app that ended, many in one fact. */
export type DisconnectionFact = EventOf<typeof events.appDisconnected.subject>;

/**
 * Tells an app of each of these ends, in the order in which the fact names them; all or none, as `trx` commits or not. It has a
 * consumer of its own, so that other apps do not wait for an app with very many connections. The order of each connection's facts
 * holds over both consumers by their versions: whichever comes too early waits for the other.
 */
export const applyDisconnectionFact = async (
  trx: Knex.Transaction,
  { fact, deliveries }: { readonly fact: DisconnectionFact; readonly deliveries: DeliveryMeta['deliveries'] },
  deps: StoreDeps,
): Promise<void> => {
  const { client_id: clientId, revoked_at, connections } = fact.data;
  const ends = connections.map(({ svc_user_id: userId, version }) => ({
    ...{ userId, clientId, version, deliveries },
    aggregate: connectionAggregate(userId, clientId),
  }));
  const fresh = await takeNewFacts(trx, ends);
  await updateConnectionsEnded(trx, fresh);
  const drafts = fresh.map(({ userId }): EventDraft => {
    const factId = partId(fact.id, userId);
    return { clientId, userId, factId, event: 'integration.revoked', data: { reason: 'app_suspended', revoked_at } };
  });
  await storeEvents(trx, drafts, deps);
};

/** The id of a fact's part about one user: the same each time, as one fact may cause one event of a kind and app only. */
const partId = (factId: string, userId: string): string => {
  const hex = createHash('sha256').update(`${factId} ${userId}`).digest('hex');
  // RFC 9562 section 5.8: version 8, in its variant.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
};
