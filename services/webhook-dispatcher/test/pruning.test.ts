import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { expect, test } from 'vitest';
import { call, newOwner, startDispatcher, startWorld } from './support/dispatcher.ts';

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
  await knex('delivery_attempts').insert({ client_id: other, sequence: 1, attempt: 1, at: new Date(), duration_ms: 1 });
  const second = await startDispatcher(world);
  const sequences = async () =>
    (await knex('events').orderBy('sequence').select('sequence')).map((row) => row.sequence);
  await waitFor(async () => JSON.stringify(await sequences()) === '[3,4]');
  expect(await knex('delivery_attempts').where('sequence', '<', 3).select('client_id')).toEqual([{ client_id: other }]);
  world.receiver.otherwise = 204;
  const { body } = await call(second, owner, ['POST', '/test']);
  await waitFor(() =>
    world.receiver.received.some(({ event }) => event.event_id === body.event_id && event.sequence === 5),
  );
  await second.stop();
  await world.stop();
});
