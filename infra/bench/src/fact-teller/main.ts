import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DISCONNECTED_MAX } from '@svc/contracts';
import { createDatabase } from '@svc/database';
import {
  connectMessaging,
  type OutboxEvent,
  outboxInsert,
  outboxMigration,
  outboxValues,
  startRelay,
} from '@svc/messaging';
import pg from 'pg';
import { appDisconnected, connectionCreated } from '../webhooks/dispatcher-under-test.ts';

const ignore = (): void => {};

// Publishes auth's events in a separate process. Each event is committed to an outbox in one transaction, and auth's
// relay sends it. Commands over IPC: publish a number of connections at a rate, then return the id and transaction
// number of each event after the last commit; or publish the end of all connections of a suspended app at once.

/** Size of auth's pool. */
const WRITERS = 10;
const TICK_MS = 5;

interface Connecting {
  readonly clientIds: readonly string[];
  readonly count: number;
  readonly rate: number;
}

interface Suspension {
  readonly suspended: string;
  readonly userIds: readonly string[];
}

const databaseUrl = process.env['DATABASE_URL'] ?? '';
const knex = createDatabase(databaseUrl, { poolMax: 1 });
if (!(await knex.schema.hasTable('outbox'))) await outboxMigration(knex);
const silent = { debug: ignore, info: ignore, warn: console.warn, error: console.error };
const messaging = await connectMessaging({ url: process.env['NATS_URL'] ?? '', name: 'auth', logger: silent });
const relay = startRelay({ databaseUrl, messaging, service: 'auth' });
// The part of auth's internal port that a restore asks. No account was erased.
const internal = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ announced: 0 }));
});
await new Promise<void>((resolve) => internal.listen(0, '127.0.0.1', resolve));
const pool = new pg.Pool({ connectionString: databaseUrl, max: WRITERS });

/** Builds the query that commits an event. */
const toQuery = (fact: OutboxEvent): pg.QueryConfig => {
  const text = `${outboxInsert(1)} RETURNING id, pg_current_xact_id()::text AS transaction`;
  return { name: 'append', text, values: [...outboxValues(fact)] };
};

/** Commits one event and returns its id and transaction number. */
const commit = async (query: pg.QueryConfig): Promise<[id: string, transaction: string]> => {
  const { rows } = await pool.query(query);
  relay.hint();
  return [rows[0].id, rows[0].transaction];
};

const connect = async ({ clientIds, count, rate }: Connecting): Promise<void> => {
  // Prepared in advance: creating users is not measured.
  const queries = Array.from({ length: count }, (_, index) =>
    toQuery(connectionCreated(clientIds[index % clientIds.length] ?? '')),
  );
  const startedAt = performance.now();
  const open: ReturnType<typeof commit>[] = [];
  while (open.length < count) {
    const due = Math.min(count, Math.ceil(((performance.now() - startedAt) / 1000) * rate));
    open.push(...queries.slice(open.length, due).map(commit));
    await sleep(TICK_MS);
  }
  process.send?.({ told: await Promise.all(open) });
};

const suspend = async ({ suspended, userIds }: Suspension): Promise<void> => {
  for (let first = 0; first < userIds.length; first += DISCONNECTED_MAX) {
    await commit(toQuery(appDisconnected(suspended, userIds.slice(first, first + DISCONNECTED_MAX))));
  }
};

process.on('message', (order: Connecting | Suspension) => {
  void ('suspended' in order ? suspend(order) : connect(order));
});
process.once('SIGTERM', () => {
  void (async () => {
    await relay.stop();
    await messaging.close();
    internal.close();
    await Promise.all([pool.end(), knex.destroy()]);
    process.disconnect();
  })();
});
// A server that listens on a port has an AddressInfo.
process.send?.({ internalUrl: `http://127.0.0.1:${(internal.address() as AddressInfo).port}` });
