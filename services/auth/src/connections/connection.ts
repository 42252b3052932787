import type { BudgetLimit } from '@svc/contracts';
import { camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { invalidField } from '@svc/service-kit';
import { DAY_MS } from '../time.ts';
import type { Executor, Transaction } from '../transact.ts';

/**
 * A user's connection to an app, as stored. The row is kept after the connection ends, so that the versions of its
 * facts keep growing.
 */
export interface ConnectionRecord {
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly connectedAt: Date;
  readonly lastUsedAt: Date | null;
  /** Newest grant. If a suspension of the app covers it, the connection has ended even before its fact is written. */
  readonly lastGrantId: string;
  readonly version: number;
  readonly endedAt: Date | null;
  readonly isPaused: boolean;
  /** Copy of the budget in billing, which also counts its use. All three are null without a budget. */
  readonly budgetLimitMicros: number | null;
  readonly budgetPeriod: BudgetLimit['period'] | null;
  readonly budgetExpiresAt: Date | null;
  /** Number of changes of budget and pause, so that a change sees if another came first. */
  readonly termsVersion: number;
}

type Expiring = Pick<BudgetLimit, 'expires_at'>;

/** Returns true for a budget that has ended. */
export const hasPassed = ({ expires_at: expiresAt }: Expiring, now: Date): boolean =>
  expiresAt != null && new Date(expiresAt) <= now;

/** Throws the contract's 422 for a budget in a request that has ended. */
export const requireLiveBudget = (budget: Expiring | null | undefined, now: Date): void => {
  if (budget == null || !hasPassed(budget, now)) return;
  throw invalidField(['body', 'budget', 'expires_at'], 'value_error', 'Value error, must be in the future');
};

/** Returns the column values of a budget. */
export const budgetColumns = (
  budget: BudgetLimit | null,
): Pick<ConnectionRecord, 'budgetLimitMicros' | 'budgetPeriod' | 'budgetExpiresAt'> => ({
  budgetLimitMicros: budget?.limit_micros ?? null,
  budgetPeriod: budget?.period ?? null,
  budgetExpiresAt: budget?.expires_at == null ? null : new Date(budget.expires_at),
});

/** A permission given by one consent. */
export interface GrantRecord {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scope: string;
  /** Name that the device has given. Null for a consent in a browser. */
  readonly deviceName: string | null;
}

/** Reason why a connection ended. */
export type EndReason = 'user_disconnected' | 'app_suspended';

/** Grants unused for this long are deleted: their last refresh token expired a day before. */
export const GRANT_UNUSED_MS = 31 * DAY_MS;

/**
 * Maximum grants per connection: a new consent ends the oldest beyond it. Few enough to end in one transaction, and so
 * many that a burst of consents does not end the grant of a code before it is redeemed.
 */
export const GRANTS_PER_CONNECTION_MAX = 500;

/** Returns true if the last suspension of the app covers this grant. */
export const isCutOff = (grantId: string, cutoff: string | undefined): boolean =>
  cutoff !== undefined && grantId <= cutoff;

/** Returns true if a connection stands, given the last suspension of its app. */
export const isStanding = (connection: ConnectionRecord, cutoff: string | undefined): boolean =>
  connection.endedAt === null && !isCutOff(connection.lastGrantId, cutoff);

type Row = SnakeKeys<ConnectionRecord>;

/** True for a connection `c` that stands: not ended, and not covered by a suspension of its app. */
const STANDING = `c.ended_at IS NULL
  AND NOT EXISTS (SELECT FROM app_cutoffs k WHERE k.client_id = c.client_id AND k.revoked_through >= c.last_grant_id)`;

/** Finds a connection, ended or not. */
export const findConnection = async (
  executor: Executor,
  key: { userId: string; clientId: string },
): Promise<ConnectionRecord | undefined> => {
  const row = await executor<Row>('connections').where({ user_id: key.userId, client_id: key.clientId }).first();
  return row === undefined ? undefined : camelKeys(row);
};

/**
 * Finds a connection and locks it until the transaction ends. Every change of a connection or its grants starts with
 * this.
 */
export const lockConnection = async (
  trx: Transaction,
  key: { userId: string; clientId: string },
): Promise<ConnectionRecord | undefined> => {
  const row = await trx<Row>('connections').where({ user_id: key.userId, client_id: key.clientId }).forUpdate().first();
  return row === undefined ? undefined : camelKeys(row);
};

/** Budget of the connection of a grant, as selected by `budgetJson`. */
export interface BudgetJson {
  readonly limit_micros: number;
  readonly period: BudgetLimit['period'];
  readonly expires_at: string | null;
}

/** Returns SQL that selects the budget of the connection of a grant; null if it has none. */
export const budgetJson = (grantId: string): string => `(
  SELECT json_build_object('limit_micros', b.budget_limit_micros, 'period', b.budget_period, 'expires_at', b.budget_expires_at)
  FROM grants AS g JOIN connections AS b ON b.user_id = g.user_id AND b.client_id = g.client_id
  WHERE g.id = ${grantId} AND b.budget_limit_micros IS NOT NULL
)`;

/** Stores a new connection. Returns false if another transaction has just stored it. */
export const insertConnection = async (trx: Transaction, connection: ConnectionRecord): Promise<boolean> => {
  const rows = await trx('connections')
    .insert(snakeKeys(connection))
    .onConflict(['user_id', 'client_id'])
    .ignore()
    .returning('version');
  return rows.length > 0;
};

/** Updates a locked connection. */
export const updateConnection = async (trx: Transaction, connection: ConnectionRecord): Promise<void> => {
  await trx('connections')
    .where({ user_id: connection.userId, client_id: connection.clientId })
    .update(snakeKeys(connection));
};

/** Lists the standing connections of a user, to all apps or one, newest first, with the last use of their grants. */
export const listStandingConnections = async (
  executor: Executor,
  userId: string,
  clientId: string | null = null,
): Promise<ConnectionRecord[]> => {
  const result: { rows: Row[] } = await executor.raw(
    `SELECT c.*, greatest(c.last_used_at, g.last_used_at) AS last_used_at
     FROM connections c
     LEFT JOIN LATERAL (
       SELECT max(last_used_at) AS last_used_at FROM grants WHERE user_id = c.user_id AND client_id = c.client_id
     ) g ON true
     WHERE c.user_id = :userId AND (:clientId::text IS NULL OR c.client_id = :clientId) AND ${STANDING}
     ORDER BY c.connected_at DESC, c.client_id`,
    { userId, clientId },
  );
  return result.rows.map(camelKeys);
};

/** Lists the ended connections of a user, the newest end first. */
export const listEndedConnectionRecords = async (
  executor: Executor,
  userId: string,
  limit: number,
): Promise<ConnectionRecord[]> => {
  const rows = await executor<Row>('connections')
    .where({ user_id: userId })
    .whereNotNull('ended_at')
    .orderBy([{ column: 'ended_at', order: 'desc' }, { column: 'client_id' }])
    .limit(limit);
  return rows.map(camelKeys);
};

/** Counts the standing connections by app. Omits apps without any. */
export const countStandingConnections = async (
  executor: Executor,
  clientIds: readonly string[],
): Promise<Map<string, number>> => {
  const result: { rows: { client_id: string; count: number }[] } = await executor.raw(
    `SELECT c.client_id, count(*) AS count FROM connections c WHERE c.client_id = ANY(?) AND ${STANDING} GROUP BY 1`,
    [[...clientIds]],
  );
  return new Map(result.rows.map((row) => [row.client_id, row.count]));
};

/** Ends every standing connection of a user and returns the versions of their last facts. */
export const endStandingConnections = async (
  trx: Transaction,
  userId: string,
  now: Date,
): Promise<{ clientId: string; version: number }[]> => {
  const result: { rows: { client_id: string; version: number }[] } = await trx.raw(
    `WITH chosen AS (
       SELECT client_id FROM connections c WHERE user_id = :userId AND ${STANDING} ORDER BY client_id FOR UPDATE OF c
     )
     UPDATE connections c
     SET ended_at = :now, version = c.version + 1,
         last_used_at = greatest(c.last_used_at, (
           SELECT max(g.last_used_at) FROM grants g WHERE g.user_id = c.user_id AND g.client_id = c.client_id
         ))
     FROM chosen WHERE c.user_id = :userId AND c.client_id = chosen.client_id
     RETURNING c.client_id, c.version`,
    { userId, now },
  );
  return result.rows.map((row) => ({ clientId: row.client_id, version: row.version }));
};

/** Ends at most `limit` connections that a suspension covers. Returns them with the versions of their last facts. */
export const endCutOffConnections = async (
  trx: Transaction,
  input: { clientId: string; cutoff: string; now: Date; limit: number },
): Promise<{ userId: string; version: number }[]> => {
  const result: { rows: { user_id: string; version: number }[] } = await trx.raw(
    `WITH chosen AS (
       SELECT user_id FROM connections
       WHERE client_id = :clientId AND ended_at IS NULL AND last_grant_id <= :cutoff
       ORDER BY user_id LIMIT :limit FOR UPDATE
     )
     UPDATE connections c
     SET ended_at = :now, version = c.version + 1,
         last_used_at = greatest(c.last_used_at, (
           SELECT max(g.last_used_at) FROM grants g WHERE g.user_id = c.user_id AND g.client_id = c.client_id
         ))
     FROM chosen WHERE c.client_id = :clientId AND c.user_id = chosen.user_id
     RETURNING c.user_id, c.version`,
    input,
  );
  return result.rows.map((row) => ({ userId: row.user_id, version: row.version }));
};

/** Deletes at most `limit` ended connections of an app. Returns the number. */
export const deleteEndedConnections = async (trx: Transaction, clientId: string, limit: number): Promise<number> => {
  const result: { rowCount: number } = await trx.raw(
    `DELETE FROM connections WHERE client_id = :clientId AND user_id IN (
       SELECT user_id FROM connections WHERE client_id = :clientId AND ended_at IS NOT NULL LIMIT :limit
     )`,
    { clientId, limit },
  );
  return result.rowCount;
};
