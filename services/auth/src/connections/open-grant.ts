import { type AppTermsChange, authEvents, type BudgetLimit, connectionAggregate, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { later } from '../time.ts';
import type { Transaction } from '../transact.ts';
import { auditRecord, type Origin, OWN_ORIGIN } from './audit.ts';
import { insertAuditEntries } from './audit-queries.ts';
import {
  budgetColumns,
  type ConnectionRecord,
  GRANT_UNUSED_MS,
  GRANTS_PER_CONNECTION_MAX,
  type GrantRecord,
  isCutOff,
} from './connection.ts';
import { endGrants, laterOf } from './end-grants.ts';
import { findCutoff, insertGrant, listOldestGrantIds } from './grant-queries.ts';
import { insertConnection, lockConnection, updateConnection } from './queries.ts';

export interface Consent {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly now: Date;
  /** Limit of the app's use of the plan; null removes it, undefined leaves it as it is. */
  readonly budget: BudgetLimit | null | undefined;
  readonly origin: Origin;
}

/** A grant, and the change to send to billing before the commit. */
export interface OpenedGrant {
  readonly grant: GrantRecord;
  /** True if the user was not connected to the app. */
  readonly isNew: boolean;
  readonly termsChange: AppTermsChange | undefined;
}

/**
 * Connects a user and an app, or reconnects them, and opens the grant of this consent. Appends the fact
 * `auth.connection.created`. The caller holds a lock on the app, so that no suspension interleaves.
 */
export const openGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  consent: Consent,
): Promise<OpenedGrant> => {
  const { userId, clientId, scope, now } = consent;
  const cutoff = await findCutoff(trx, clientId);
  const grant: GrantRecord = { id: newGrantId(deps, now, cutoff), userId, clientId, scope };
  const connected = await connect(deps, trx, { ...consent, grantId: grant.id, cutoff });
  const { connection } = connected;
  await insertGrant(trx, grant, { createdAt: now, expiresAt: later(now, GRANT_UNUSED_MS) });
  const isAgain = connection.connectedAt < now;
  const action = isAgain ? 'consented_again' : 'connected';
  await insertAuditEntries(trx, [auditRecord(deps, consent, { action, scope, origin: consent.origin, now })]);
  await appendToOutbox(trx, {
    subject: authEvents.connectionCreated.subject,
    aggregate: connectionAggregate(userId, clientId),
    version: connection.version,
    data: {
      svc_user_id: userId,
      client_id: clientId,
      grant_id: grant.id,
      scope,
      connected_at: connection.connectedAt.toISOString(),
    },
  });
  await endSurplus(trx, connection);
  return { grant, isNew: !isAgain, termsChange: termsChangeOf(consent, connected) };
};

/** Skips billing if no limit existed and none is set. */
const termsChangeOf = ({ budget }: Consent, { hadLimit, isResumed }: Connected): AppTermsChange | undefined => {
  const isSet = budget !== undefined && (budget !== null || hadLimit);
  if (!isSet && !isResumed) return undefined;
  return { ...(isSet ? { budget } : {}), ...(isResumed ? { paused: false } : {}) };
};

/** Ends the oldest grants beyond the limit. The connection keeps their last use. */
export const endSurplus = async (trx: Transaction, connection: ConnectionRecord): Promise<void> => {
  const surplus = await listOldestGrantIds(trx, { ...connection, keep: GRANTS_PER_CONNECTION_MAX });
  if (surplus.length === 0) return;
  const lastUsedAt = await endGrants(trx, connection, surplus);
  await updateConnection(trx, { ...connection, lastUsedAt: laterOf(connection.lastUsedAt, lastUsedAt) });
};

/** Returns an id that sorts after every grant that a suspension has ended, even if the clocks of replicas differ. */
export const newGrantId = (deps: { newId: typeof newId }, now: Date, cutoff: string | undefined): string => {
  let aheadMs = 0;
  let id = deps.newId('grt', now.getTime());
  while (isCutOff(id, cutoff)) {
    aheadMs = aheadMs * 2 + 1;
    id = deps.newId('grt', now.getTime() + aheadMs);
  }
  return id;
};

interface Connecting extends Consent {
  readonly grantId: string;
  readonly cutoff: string | undefined;
}

interface Connected {
  readonly connection: ConnectionRecord;
  /** True if the app was paused and is connected again. */
  readonly isResumed: boolean;
  readonly hadLimit: boolean;
}

const connect = async (deps: { newId: typeof newId }, trx: Transaction, input: Connecting): Promise<Connected> => {
  const { userId, clientId, scope, now, grantId, cutoff, budget } = input;
  const first: ConnectionRecord = {
    userId,
    clientId,
    scope,
    connectedAt: now,
    lastUsedAt: null,
    lastGrantId: grantId,
    version: 1,
    endedAt: null,
    isPaused: false,
    ...budgetColumns(budget ?? null),
  };
  const known = await lockConnection(trx, { userId, clientId });
  if (known === undefined && (await insertConnection(trx, first))) {
    return { connection: first, isResumed: false, hadLimit: false };
  }
  const before = known ?? (await lockConnection(trx, { userId, clientId }));
  if (before === undefined) throw new Error('a connection vanished while it was made');
  const isAgain = before.endedAt === null && !isCutOff(before.lastGrantId, cutoff);
  const ended = isAgain ? before : await settleEnd(deps, trx, { connection: before, now });
  const { budgetLimitMicros, budgetPeriod, budgetExpiresAt } = ended;
  const after: ConnectionRecord = {
    ...(isAgain ? { ...ended, scope, lastGrantId: grantId } : first),
    version: ended.version + 1,
    // A limit outlives its connection: a total goes on counting when the app is connected again.
    ...(budget === undefined ? { budgetLimitMicros, budgetPeriod, budgetExpiresAt } : budgetColumns(budget)),
  };
  await updateConnection(trx, after);
  return { connection: after, isResumed: !isAgain && ended.isPaused, hadLimit: budgetLimitMicros !== null };
};

/** Ends a connection now if a pending suspension covers it, so that the facts stay in order. */
const settleEnd = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { connection, now }: { connection: ConnectionRecord; now: Date },
): Promise<ConnectionRecord> => {
  if (connection.endedAt !== null) return connection;
  const version = connection.version + 1;
  await appendToOutbox(trx, {
    subject: authEvents.connectionRevoked.subject,
    aggregate: connectionAggregate(connection.userId, connection.clientId),
    version,
    data: {
      svc_user_id: connection.userId,
      client_id: connection.clientId,
      reason: 'app_suspended',
      revoked_at: now.toISOString(),
    },
  });
  await insertAuditEntries(trx, [auditRecord(deps, connection, { action: 'app_suspended', origin: OWN_ORIGIN, now })]);
  await endGrants(trx, connection);
  return { ...connection, version, endedAt: now };
};
