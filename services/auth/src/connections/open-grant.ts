import { isDeepStrictEqual } from 'node:util';
import { type AppTermsChange, authEvents, type BudgetLimit, connectionAggregate, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import { later } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';
import { auditRecord, insertAuditEntries, type Origin, OWN_ORIGIN } from './audit.ts';
import { TermsMoved } from './change-terms.ts';
import {
  budgetColumns,
  type ConnectionRecord,
  findConnection,
  GRANT_UNUSED_MS,
  GRANTS_PER_CONNECTION_MAX,
  type GrantRecord,
  insertConnection,
  isCutOff,
  isStanding,
  lockConnection,
  updateConnection,
} from './connection.ts';
import { findCutoff, insertGrant, listOldestGrantIds } from './grant-queries.ts';
import { endGrants, laterOf } from './grants.ts';

/** The change that a consent sends to billing, and the version of the terms for which it was judged. */
interface PlannedTerms {
  readonly version: number;
  /** Undefined if billing need not know of the consent. */
  readonly change: AppTermsChange | undefined;
}

/** Plans the change of a consent. The consent itself judges again and throws TermsMoved if it differs. */
export const planTerms = async (
  executor: Executor,
  { userId, clientId, budget }: { userId: string; clientId: string; budget: BudgetLimit | null | undefined },
): Promise<PlannedTerms> => {
  const known = await findConnection(executor, { userId, clientId });
  return judgeTerms({ known, cutoff: await findCutoff(executor, clientId), budget });
};

/** Judges the change of a consent, given the connection and the last suspension of its app. */
const judgeTerms = ({
  known,
  cutoff,
  budget,
}: {
  readonly known: ConnectionRecord | undefined;
  readonly cutoff: string | undefined;
  readonly budget: BudgetLimit | null | undefined;
}): PlannedTerms => {
  if (known === undefined) return { version: 0, change: budget == null ? undefined : { budget } };
  // Billing need not know of a limit that did not exist and is not set.
  const isSet = budget !== undefined && (budget !== null || known.budgetLimitMicros !== null);
  const isResumed = known.isPaused && !isStanding(known, cutoff);
  const change = { ...(isSet ? { budget } : {}), ...(isResumed ? { paused: false } : {}) };
  return { version: known.termsVersion, change: isSet || isResumed ? change : undefined };
};

export interface Consent {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly now: Date;
  /** Limit of the app's use of the plan; null removes it, undefined leaves it as it is. */
  readonly budget: BudgetLimit | null | undefined;
  /** Change of the terms that billing has made already. */
  readonly terms: PlannedTerms;
  readonly origin: Origin;
  /** Name that the device has given. Null for a consent in a browser. */
  readonly deviceName: string | null;
}

export interface OpenedGrant {
  readonly grant: GrantRecord;
  /** True if the user was not connected to the app. */
  readonly isNew: boolean;
}

/**
 * Connects a user and an app, or reconnects them, and opens the grant of this consent. Appends the fact
 * `auth.connection.created`. The caller holds a lock on the app, so that no suspension interleaves. Throws TermsMoved if
 * the terms were planned for another state of the connection.
 */
export const openGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  consent: Consent,
): Promise<OpenedGrant> => {
  const { userId, clientId, scope, now, deviceName } = consent;
  const cutoff = await findCutoff(trx, clientId);
  const grant: GrantRecord = { id: newGrantId(deps, now, cutoff), userId, clientId, scope, deviceName };
  const connection = await connect(deps, trx, { ...consent, grantId: grant.id, cutoff });
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
  return { grant, isNew: !isAgain };
};

/** Ends the oldest grants beyond the limit. The connection keeps their last use. */
const endSurplus = async (trx: Transaction, connection: ConnectionRecord): Promise<void> => {
  const surplus = await listOldestGrantIds(trx, { ...connection, keep: GRANTS_PER_CONNECTION_MAX });
  if (surplus.length === 0) return;
  const lastUsedAt = await endGrants(trx, connection, surplus);
  await updateConnection(trx, { ...connection, lastUsedAt: laterOf(connection.lastUsedAt, lastUsedAt) });
};

/** Returns an id that sorts after every grant that a suspension has ended, even if the clocks of replicas differ. */
const newGrantId = (deps: { newId: typeof newId }, now: Date, cutoff: string | undefined): string => {
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

const connect = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  input: Connecting,
): Promise<ConnectionRecord> => {
  const { userId, clientId, scope, now, grantId, cutoff, budget, terms } = input;
  const termsVersion = terms.version + (terms.change === undefined ? 0 : 1);
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
    termsVersion,
  };
  const known = await lockConnection(trx, { userId, clientId });
  if (!isDeepStrictEqual(judgeTerms({ known, cutoff, budget }), terms)) throw new TermsMoved();
  if (known === undefined) {
    if (!(await insertConnection(trx, first))) throw new TermsMoved();
    return first;
  }
  const isAgain = isStanding(known, cutoff);
  const ended = isAgain ? known : await settleEnd(deps, trx, { connection: known, now });
  const { budgetLimitMicros, budgetPeriod, budgetExpiresAt } = ended;
  const after: ConnectionRecord = {
    ...(isAgain ? { ...ended, scope, lastGrantId: grantId } : first),
    version: ended.version + 1,
    // A limit outlives its connection: a total goes on counting when the app is connected again.
    ...(budget === undefined ? { budgetLimitMicros, budgetPeriod, budgetExpiresAt } : budgetColumns(budget)),
    termsVersion,
  };
  await updateConnection(trx, after);
  return after;
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

/**
 * Opens another grant under a standing connection that covers its scope, without a new consent. The connection keeps
 * its scope, and no fact is published. Returns undefined if there is no such connection. The caller holds a lock on the
 * app.
 */
export const addGrant = async (
  deps: { newId: typeof newId },
  trx: Transaction,
  { userId, clientId, scope, now }: Omit<Consent, 'origin' | 'budget' | 'terms' | 'deviceName'>,
): Promise<GrantRecord | undefined> => {
  const cutoff = await findCutoff(trx, clientId);
  const connection = await lockConnection(trx, { userId, clientId });
  if (connection === undefined || !isStanding(connection, cutoff)) return undefined;
  const consented = new Set(connection.scope.split(' '));
  if (scope.split(' ').some((name) => !consented.has(name))) return undefined;
  const grant: GrantRecord = { id: newGrantId(deps, now, cutoff), userId, clientId, scope, deviceName: null };
  await insertGrant(trx, grant, { createdAt: now, expiresAt: later(now, GRANT_UNUSED_MS) });
  const after = { ...connection, lastGrantId: grant.id };
  await updateConnection(trx, after);
  await endSurplus(trx, after);
  return grant;
};
