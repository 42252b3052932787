import { newId, restoreOperations } from '@svc/contracts';
import { databaseMoment } from '@svc/database/testing';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Dispatcher, startDispatcher, startWorld, type World } from './support/dispatcher.ts';
import { createFacts, snapshot } from './support/facts.ts';

let world: World;
let dispatcher: Dispatcher;
beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});

const afterRestore = async (restoredTo: Date) => {
  const { path } = restoreOperations['webhook-dispatcher'];
  const response = await fetch(dispatcher.internalUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${internalCredential('operator')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ restored_to: restoredTo.toISOString() }),
  });
  expect(response.status, world.logs.slice(-6).join('')).toBe(200);
  return restoreOperations['webhook-dispatcher'].responses[200].schema.parse(await response.json());
};

test('after a restore, the facts since the moment are read again: no event is lost, and each keeps its id', async () => {
  const facts = createFacts(world, dispatcher);
  const { clientId } = await facts.newConfiguredApp();
  const known = newId('usr');
  const later = newId('usr');
  world.standIns.snapshots.set(known, snapshot(1)).set(later, snapshot(1));
  const before = ['integration.connected', 'subscription.updated 1'];
  const since = ['subscription.updated 2', 'integration.connected', 'subscription.updated 1', 'integration.revoked'];
  await facts.connect({ userId: known, clientId });
  await facts.untilSent(clientId, before);
  // Known to the app already, and the first version of its aggregate.
  await facts.changeSubscription(known, 1);

  // A delivery that is under way at the moment goes on when its lease has ended, 15 s later.
  await waitFor(async () => (await world.database.knex('events').where({ status: 'queued' })).length === 0);
  const moment = await databaseMoment(world.database.knex);
  await facts.changeSubscription(known, 2);
  await facts.untilSent(clientId, [...before, 'subscription.updated 2']);
  await facts.connect({ userId: later, clientId });
  await facts.disconnect({ userId: later, clientId }, 2);
  await facts.untilSent(clientId, [...before, ...since]);
  const received = () => world.receiver.received.filter(({ event }) => event.integration_id === clientId);
  const all = before.length + since.length;
  await waitFor(() => received().length === all);
  const ids = () => new Set(received().map(({ event }) => event.event_id));
  const idsBefore = ids();

  await dispatcher.stop();
  await moment.goBack();
  dispatcher = await startDispatcher(world);
  expect(await facts.sentTo(clientId)).toEqual(before);
  const done = await afterRestore(moment.at);
  expect(done).toMatchObject({ epoch: null, read_again: 5 });
  await waitFor(async () => (await facts.sentTo(clientId)).length === all);
  expect((await facts.sentTo(clientId)).toSorted()).toEqual([...before, ...since].toSorted());
  await waitFor(() => received().length >= all + since.length);
  expect(ids()).toEqual(idsBefore);

  // A second run reads the same facts, and knows them all.
  await afterRestore(moment.at);
  await facts.changeSubscription(known, 3);
  await waitFor(async () => (await facts.sentTo(clientId)).at(-1) === 'subscription.updated 3');
  expect(await facts.sentTo(clientId)).toHaveLength(all + 1);
  expect(await world.database.knex('dead_letters')).toEqual([]);
});
