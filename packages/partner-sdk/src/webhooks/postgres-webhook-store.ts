import { list, object, openObject } from '../shape.ts';
import type { WebhookStore } from './webhook-store.ts';

/** Wait for another worker's lock. The service gives up on an attempt after 10 s. */
const LOCK_TIMEOUT_MS = 8_000;
const DELETED_ROWS_MAX = 10_000;

/** The part of a knex transaction that the store uses. */
export interface KnexTransactionLike {
  raw(sql: string, bindings: readonly (string | number | Date)[]): PromiseLike<unknown>;
}

/** The part of knex that the store uses. */
export interface KnexLike<Trx extends KnexTransactionLike> {
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
}

/** DDL of the store's tables, for a migration: `knex.raw(webhookTablesSql)`. Repeating it changes nothing. */
export const webhookTablesSql = `
CREATE TABLE IF NOT EXISTS svc_webhook_integrations (
  integration_id text PRIMARY KEY,
  last_sequence bigint CHECK (last_sequence > 0)
);
CREATE TABLE IF NOT EXISTS svc_webhook_events (
  integration_id text NOT NULL,
  event_id text NOT NULL,
  event text NOT NULL,
  sequence bigint NOT NULL,
  processed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (integration_id, event_id)
);
CREATE INDEX IF NOT EXISTS svc_webhook_events_by_time ON svc_webhook_events (processed_at);
CREATE TABLE IF NOT EXISTS svc_webhook_snapshots (
  integration_id text NOT NULL,
  svc_user_id text NOT NULL,
  revision bigint NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (integration_id, svc_user_id)
);
`;

export interface PostgresWebhookStore<Trx> extends WebhookStore<Trx> {
  /**
   * Deletes up to 10,000 markers of events processed before `time` and returns the number deleted; repeat until it is
   * 0. Thirty days are ample: deliveries end after a day or two, unless the app's owner retries a failed one later.
   */
  deleteMarkersBefore(time: Date): Promise<number>;
}

/** Keeps a receiver's state in PostgreSQL, in the tables of `webhookTablesSql`, through the app's own knex. */
export const createPostgresWebhookStore = <Trx extends KnexTransactionLike>(
  knex: KnexLike<Trx>,
): PostgresWebhookStore<Trx> => ({
  inTransaction: (work) =>
    knex.transaction(async (trx) => {
      await trx.raw(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`, []);
      return await work(trx);
    }),

  lockIntegration: async (trx, integrationId) => {
    let row = await lockRow(trx, integrationId);
    if (row === undefined) {
      const insert = 'INSERT INTO svc_webhook_integrations (integration_id) VALUES (?) ON CONFLICT DO NOTHING';
      await trx.raw(insert, [integrationId]);
      row = await lockRow(trx, integrationId);
    }
    const lastSequence = row?.['last_sequence'];
    return lastSequence === null || lastSequence === undefined ? undefined : Number(lastSequence);
  },

  insertMarker: async (trx, { integrationId, eventId, event, sequence }) => {
    const rows = await readRows(
      trx,
      `INSERT INTO svc_webhook_events (integration_id, event_id, event, sequence) VALUES (?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING event_id`,
      [integrationId, eventId, event, sequence],
    );
    return rows.length > 0;
  },

  takeSnapshotPlace: async (trx, { integrationId, svcUserId, revision, sequence }) => {
    const rows = await readRows(
      trx,
      `INSERT INTO svc_webhook_snapshots AS known (integration_id, svc_user_id, revision, sequence) VALUES (?, ?, ?, ?)
       ON CONFLICT (integration_id, svc_user_id) DO UPDATE SET revision = excluded.revision, sequence = excluded.sequence
       WHERE (known.revision, known.sequence) <= (excluded.revision, excluded.sequence) RETURNING revision`,
      [integrationId, svcUserId, revision, sequence],
    );
    return rows.length > 0;
  },

  updateLastSequence: async (trx, integrationId, sequence) => {
    await trx.raw('UPDATE svc_webhook_integrations SET last_sequence = ? WHERE integration_id = ?', [
      sequence,
      integrationId,
    ]);
  },

  deleteMarkersBefore: (time) =>
    knex.transaction(async (trx) => {
      const rows = await readRows(
        trx,
        `DELETE FROM svc_webhook_events WHERE (integration_id, event_id) IN
           (SELECT integration_id, event_id FROM svc_webhook_events WHERE processed_at < ? LIMIT ${DELETED_ROWS_MAX})
         RETURNING event_id`,
        [time],
      );
      return rows.length;
    }),
});

const lockRow = async (
  trx: KnexTransactionLike,
  integrationId: string,
): Promise<Record<string, unknown> | undefined> => {
  const sql = 'SELECT last_sequence FROM svc_webhook_integrations WHERE integration_id = ? FOR UPDATE';
  return (await readRows(trx, sql, [integrationId]))[0];
};

const resultShape = object({ rows: list(openObject({})) });

const readRows = async (
  trx: KnexTransactionLike,
  sql: string,
  bindings: readonly (string | number | Date)[],
): Promise<Record<string, unknown>[]> => resultShape(await trx.raw(sql, bindings)).rows;
