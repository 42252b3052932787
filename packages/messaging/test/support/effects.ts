import { newId } from '@svc/contracts';
import type { Knex } from 'knex';
import { appendToOutbox, type Messaging } from '../../src/index.ts';

/** Inserts an app with its first fact and returns the client id. */
export const registerApp = async (knex: Knex): Promise<string> => {
  const clientId = newId('app');
  await knex.transaction(async (trx) => {
    await trx('app').insert({ client_id: clientId, version: 1 });
    await appendToOutbox(trx, appFact('auth.app.registered.v1', clientId, 1));
  });
  return clientId;
};

/** Locks an app's row, raises its version and appends the fact. */
export const updateApp = async (knex: Knex, clientId: string): Promise<void> => {
  await knex.transaction(async (trx) => {
    const row = await trx('app').where({ client_id: clientId }).forUpdate().first('version');
    const version = row.version + 1;
    await trx('app').where({ client_id: clientId }).update({ version });
    await appendToOutbox(trx, appFact('auth.app.updated.v1', clientId, version));
  });
};

export const appFact = (
  subject: 'auth.app.registered.v1' | 'auth.app.updated.v1' | 'auth.app.deleted.v1',
  clientId: string,
  version: number,
) => {
  const data = { client_id: clientId, owner_user_id: newId('usr'), name: 'An app', active: true };
  return { subject, aggregate: `app:${clientId}`, version, data };
};

/** Inserts a row for a handled event, like a state change of a service. */
export const recordEffect = async (
  trx: Knex.Transaction,
  event: { id: string; aggregate: string; version: number },
) => {
  await trx('effect').insert({ event_id: event.id, aggregate: event.aggregate, version: event.version });
};

/** Counts effects, and checks that each aggregate's versions took effect in order. */
export const readEffects = async (knex: Knex) => {
  const rows = await knex('effect').orderBy('seq');
  const versions = Map.groupBy(rows, (row) => row.aggregate);
  return {
    total: rows.length,
    distinct: new Set(rows.map((row) => row.event_id)).size,
    inOrder: [...versions.values()].every((list) => list.every((row, index) => row.version === index + 1)),
  };
};

/** Checks that the stream has each aggregate's versions in order, by the first copy of each message. */
export const isStreamInOrder = async (messaging: Messaging): Promise<boolean> => {
  const { state } = await messaging.manager.streams.info('AUTH');
  const newest = new Map<string, number>();
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await messaging.manager.streams.getMessage('AUTH', { seq });
    const event: { aggregate: string; version: number } = message?.json() ?? { aggregate: '', version: 1 };
    const known = newest.get(event.aggregate) ?? 0;
    if (event.version > known + 1) return false;
    newest.set(event.aggregate, Math.max(known, event.version));
  }
  return true;
};
