import { idOf, newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { listLanesToPrune } from '../src/events/start-event-pruning.ts';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

/** More than a batch of any job. */
const EVENTS = 5_000;
const OLD_SECONDS = Math.floor(Date.UTC(2026, 0, 1) / 1_000);

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
  await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  await block();
});

/** Stores events in one transaction, and blocks the app at the first of them. */
const block = () =>
  world.database.knex.transaction(async (trx) => {
    const ids = Array.from({ length: EVENTS }, (_, index) =>
      idOf('evt', OLD_SECONDS * 1_000 + index, Buffer.from(`${owner.clientId} ${index}`.padStart(32))),
    );
    await trx.raw(
      `INSERT INTO events (owner_id, sequence, event_id, generation, event, body, created, status)
       SELECT ?, n, id, 1, 'integration.test', convert_to('{"a":1}', 'UTF8'), ?, CASE n WHEN 1 THEN 'failed' ELSE 'queued' END
       FROM unnest(?::text[]) WITH ORDINALITY AS given (id, n)`,
      [owner.clientId, OLD_SECONDS, ids],
    );
    const lane = trx('lanes').where({ owner_id: owner.clientId });
    await lane.update({ last_sequence: EVENTS, blocked_sequence: 1 });
  });

/** Returns the number of the app's events that no transaction has written since they were stored. */
const countUntouched = async (): Promise<number> => {
  const { rows } = await world.database.knex.raw(
    `SELECT count(*)::int AS count FROM events WHERE owner_id = ? GROUP BY xmin ORDER BY 1 DESC LIMIT 1`,
    [owner.clientId],
  );
  return rows[0]?.count ?? 0;
};
const recordOf = async (eventId: string) => (await call(dispatcher, owner, ['GET', `/events/${eventId}`])).body;

test('a new configuration cancels any number of events without writing one of them', async () => {
  const { data: newest } = (await call(dispatcher, owner, ['GET', '/events?limit=2'])).body;
  const failed = (await call(dispatcher, owner, ['GET', ''])).body.blocked_by_event_id;
  const configured = await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  expect(configured.body).toMatchObject({ generation: 2, state: 'ok', blocked_by_event_id: null });
  expect(await countUntouched()).toBe(EVENTS);

  for (const eventId of [failed, newest[0].event_id]) {
    expect(await recordOf(eventId)).toMatchObject({ status: 'cancelled', generation: 1, next_attempt_at: null });
    const acts: [string, string, object?][] = [
      ['POST', `/events/${eventId}/deliver-now`],
      ['POST', `/events/${eventId}/recover`, { action: 'retry' }],
    ];
    for (const act of acts) expect((await call(dispatcher, owner, act)).status).toBe(409);
  }
  const page = async (status: string) => (await call(dispatcher, owner, ['GET', `/events?status=${status}`])).body;
  expect((await page('cancelled')).data).toHaveLength(50);
  for (const status of ['queued', 'failed', 'delivering']) expect((await page(status)).data).toEqual([]);

  const { body } = await call(dispatcher, owner, ['POST', '/test']);
  await waitFor(async () => (await recordOf(body.event_id)).status === 'delivered');
  expect(await recordOf(body.event_id)).toMatchObject({ sequence: EVENTS + 1, generation: 2 });
});

test('a deleted app loses its webhook at once, and its rows in batches', async () => {
  const { knex } = world.database;
  const users = Array.from({ length: 2_500 }, () => newId('usr'));
  await knex.batchInsert(
    'connections',
    users.map((svc_user_id) => ({
      svc_user_id,
      client_id: owner.clientId,
      is_connected: false,
      scope: 'inference',
      connected_at: new Date(),
    })),
  );
  await publishFact(world, {
    subject: 'auth.app.deleted.v1',
    aggregate: `app:${owner.clientId}`,
    version: 2,
    data: { client_id: owner.clientId, owner_user_id: owner.userId, name: 'An app', active: false },
  });
  await waitFor(async () => (await knex('lanes').where({ owner_id: owner.clientId })).length === 0);
  for (const [table, column] of [
    ['events', 'owner_id'],
    ['connections', 'client_id'],
    ['ended_lanes', 'owner_id'],
  ] as const) {
    const rows = () => knex(table).where(column, owner.clientId).first(column);
    await waitFor(async () => (await rows()) === undefined);
  }
});

test('pruning reads none of the old events that wait, and deletes them once they are cancelled', async () => {
  const { knex } = world.database;
  const createdBefore = OLD_SECONDS + 1;
  const hasOld = async () =>
    (await listLanesToPrune(knex, { createdBefore, after: '', limit: 1_000 })).find(
      ({ ownerId }) => ownerId === owner.clientId,
    )?.hasOld;
  expect(await hasOld()).toBe(false);
  await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  expect(await hasOld()).toBe(true);
  const other = await startDispatcher(world);
  const rows = () => knex('events').where({ owner_id: owner.clientId }).first('owner_id');
  await waitFor(async () => (await rows()) === undefined);
  await other.stop();
});
