import type { ConnectionAuditEntry, newId } from '@svc/contracts';
import { coarseNetwork } from '../network-address.ts';

/** An audited action on a connection. */
export type ConnectionAction = ConnectionAuditEntry['action'];

/** Coarse origin of a request. */
export interface Origin {
  readonly network: string | null;
  readonly clientKind: ConnectionAuditEntry['client_kind'];
}

/** An entry of a user's audit trail, as stored. */
export interface AuditRecord extends Origin {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly action: ConnectionAction;
  readonly scope: string | null;
  readonly happenedAt: Date;
}

/** Returns the origin of a request from this address. */
export const originOf = (clientAddress: string, clientKind: Origin['clientKind']): Origin => ({
  network: coarseNetwork(clientAddress),
  clientKind,
});

/** Origin of the product's own actions. */
export const OWN_ORIGIN: Origin = { network: null, clientKind: 'service' };

/** Creates an entry. Ids sort by time, which is the order of the trail. */
export const auditRecord = (
  deps: { newId: typeof newId },
  key: { userId: string; clientId: string },
  what: { action: ConnectionAction; scope?: string; origin: Origin; now: Date },
): AuditRecord => ({
  id: deps.newId('aud', what.now.getTime()),
  userId: key.userId,
  clientId: key.clientId,
  action: what.action,
  scope: what.scope ?? null,
  ...what.origin,
  happenedAt: what.now,
});
