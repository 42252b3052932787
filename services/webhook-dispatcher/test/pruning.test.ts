import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { giveUpOldEvents, pauseBlockedLanes } from '../src/events/start-event-pruning.ts';
import { call, newOwner, seedEvents, startDispatcher, startWorld } from './support/dispatcher.ts';

test('deletes old done events, keeps open ones, and continues the sequence', async () => {
  const world = await startWorld();
  const owner = await newOwner(world);
  const first = await startDispatcher(world);
  await call(first, owner, ['PUT', '', { url: world.receiver.url }]);
  world.receiver.next.push(204, 204);
  world.receiver.otherwise = 500;
  for (let count = 0; count < 4; count += 1) await call(first, owner, ['POST', '/test']);
  const { knex } = world.database;
  await waitFor(() => world.receiver.received.length >= 3);
  await waitFor(async () => (await knex('delivery_attempts').where({ sequence: 3 }).first()) !== undefined);
  await first.stop();
  await knex('events').update({ created: knex.raw('created - 31 * 86400') });
  const other = newId('app');
  await knex('delivery_attempts').insert({ owner_id: other, sequence: 1, attempt: 1, at: new Date(), duration_ms: 1 });
  const second = await startDispatcher(world);
  const sequences = async () =>
    (await knex('events').orderBy('sequence').select('sequence')).map((row) => row.sequence);
  await waitFor(async () => JSON.stringify(await sequences()) === '[3,4]');
  expect(await knex('delivery_attempts').where('sequence', '<', 3).select('owner_id')).toEqual([{ owner_id: other }]);
  world.receiver.otherwise = 204;
  const { body } = await call(second, owner, ['POST', '/test']);
  await waitFor(() =>
    world.receiver.received.some(({ event }) => event.event_id === body.event_id && event.sequence === 5),
  );
  await second.stop();
  await world.stop();
});

test('pauses a webhook that has been blocked for 30 days, and gives up what has waited for 90', async () => {
  const world = await startWorld();
  const owner = await newOwner(world);
  const dispatcher = await startDispatcher(world);
  await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  const { knex } = world.database;
  const { clientId } = owner;
  world.receiver.otherwise = 500;
  // A blocked lane as the eighth failure leaves it, and its alarm after the mail.
  const block = (sequence: number, days: number) =>
    knex.transaction(async (trx) => {
      const at = new Date(Date.now() - days * 86_400_000);
      await trx('events').where({ sequence }).update({ status: 'failed', attempts: 8, attempts_in_round: 8 });
      await trx('delivery_attempts').insert({ owner_id: clientId, sequence, attempt: 8, at, duration_ms: 1 });
      await trx('lane_alarms').insert({
        owner_id: clientId,
        sequence,
        attempts: 8,
        change: 'blocked',
        is_mailed: true,
      });
      await trx('lanes').update({ blocked_sequence: sequence, due_at: null, leased_until: null });
    });
  await knex('lanes').update({ leased_until: null, due_at: null });
  await dispatcher.stop();
  await seedEvents(world, Array<string>(4).fill(clientId));
  const cutoff = Math.floor(Date.now() / 1_000) - 90 * 86_400;
  await knex('events')
    .where('sequence', '<=', 3)
    .update({ created: cutoff - 1 });
  const lane = () => knex('lanes').first('done_sequence', 'blocked_sequence', 'paused_at');
  const alarm = () => knex('lane_alarms').first('sequence', 'attempts', 'change', 'is_mailed');

  await block(1, 29);
  await pauseBlockedLanes(knex);
  expect(await giveUpOldEvents(knex, cutoff)).toBe(false);
  expect(await lane()).toEqual({ done_sequence: 0, blocked_sequence: 1, paused_at: null });

  await knex('delivery_attempts').update({ at: new Date(Date.now() - 31 * 86_400_000) });
  await Promise.all([pauseBlockedLanes(knex), pauseBlockedLanes(knex)]);
  expect(await alarm()).toEqual({ sequence: 1, attempts: 8, change: 'paused', is_mailed: false });
  expect(await giveUpOldEvents(knex, cutoff)).toBe(true);
  expect(await giveUpOldEvents(knex, cutoff)).toBe(false);
  expect(await lane()).toEqual({ done_sequence: 3, blocked_sequence: 4, paused_at: expect.any(Date) });
  expect(await alarm()).toMatchObject({ sequence: 4, attempts: 0 });
  expect(await knex('events').orderBy('sequence').pluck('status')).toEqual(['skipped', 'skipped', 'skipped', 'failed']);

  world.receiver.otherwise = 204;
  const again = await startDispatcher(world);
  const state = (await call(again, owner, ['GET', ''])).body;
  expect(state).toMatchObject({ state: 'blocked', paused_at: expect.any(String) });
  await call(again, owner, ['POST', `/events/${state.blocked_by_event_id}/recover`, { action: 'retry' }]);
  await waitFor(() => world.receiver.received.some(({ event }) => event.sequence === 4));
  expect((await call(again, owner, ['GET', ''])).body).toMatchObject({ state: 'ok', paused_at: null });
  await again.stop();
  await world.stop();
});
