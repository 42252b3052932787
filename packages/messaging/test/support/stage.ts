import { newId } from '@svc/contracts';
import { captureLogs, testDatabase, testNats } from '@svc/testing';
import type { Knex } from 'knex';
import { appendToOutbox, connectMessaging, type Messaging, type Relay, startRelay } from '../../src/index.ts';

/** A database, a NATS server and whatever a test starts on them, ended in order. */
export type Stage = Awaited<ReturnType<typeof createStage>>;

/** Builds the stage of one test file. */
export async function createStage() {
  const database = await testDatabase({ migrations: `${import.meta.dirname}/../migrations` });
  const nats = await testNats();
  const logs = captureLogs();
  const open = new Set<{ stop(): Promise<void> }>();
  const keep = <T extends { stop(): Promise<void> }>(part: T): T => {
    open.add(part);
    return part;
  };
  const connect = async (name = 'test'): Promise<Messaging> => {
    const messaging = await connectMessaging({ url: nats.url, name, logger: logs.logger });
    open.add({ stop: () => messaging.close() });
    return messaging;
  };
  return {
    ...{ database, knex: database.knex, nats, logs, connect, keep },
    relay: (messaging: Messaging): Relay => keep(startRelay({ databaseUrl: database.url, messaging, service: 'auth' })),
    /** Ends what the test started, newest first, and empties the tables. */
    async reset() {
      for (const part of [...open].reverse()) await part.stop();
      open.clear();
      await database.knex.raw('TRUNCATE outbox, outbox_streams, inbox, inbox_versions, dead_letters, app, effect');
    },
    async end() {
      for (const part of [...open].reverse()) await part.stop();
      await nats.stop();
      await database.drop();
    },
  };
}

/** Registers an app: its row is locked by being made, so this fact is version 1. Answers the client id. */
export async function registerApp(knex: Knex): Promise<string> {
  const clientId = newId('app');
  await knex.transaction(async (trx) => {
    await trx('app').insert({ client_id: clientId, version: 1 });
    await appendToOutbox(trx, appFact('auth.app.registered.v1', clientId, 1));
  });
  return clientId;
}

/** Changes an app: locks its row, raises its version and writes the fact. */
export async function updateApp(knex: Knex, clientId: string): Promise<void> {
  await knex.transaction(async (trx) => {
    const row = await trx('app').where({ client_id: clientId }).forUpdate().first('version');
    const version = row.version + 1;
    await trx('app').where({ client_id: clientId }).update({ version });
    await appendToOutbox(trx, appFact('auth.app.updated.v1', clientId, version));
  });
}

/** A fact about an app. */
export function appFact(
  subject: 'auth.app.registered.v1' | 'auth.app.updated.v1' | 'auth.app.deleted.v1',
  clientId: string,
  version: number,
) {
  const data = { client_id: clientId, owner_user_id: newId('usr'), name: 'An app', active: true };
  return { subject, aggregate: `app:${clientId}`, version, data };
}

/** Notes in `effect` that an event was handled, as a service would change its state. */
export async function noteEffect(trx: Knex.Transaction, event: { id: string; aggregate: string; version: number }) {
  await trx('effect').insert({ event_id: event.id, aggregate: event.aggregate, version: event.version });
}

/** Every effect must have happened once, and in order of version within its aggregate. */
export async function readEffects(knex: Knex) {
  const rows = await knex('effect').orderBy('seq');
  const versions = Map.groupBy(rows, (row) => row.aggregate);
  return {
    total: rows.length,
    distinct: new Set(rows.map((row) => row.event_id)).size,
    inOrder: [...versions.values()].every((list) => list.every((row, index) => row.version === index + 1)),
  };
}
